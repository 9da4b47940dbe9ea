"""Pictures of many sizes that become what detectors take."""
