"""The kernel of conv2d by Winograd's minimal filtering, whose blocks transform what they multiply."""
