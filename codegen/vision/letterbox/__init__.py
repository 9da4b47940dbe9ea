"""Pictures that become what detectors take."""
