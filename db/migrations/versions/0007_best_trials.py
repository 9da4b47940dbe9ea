"""The view of the best trials prefers the compiler that is installed; views are made anew after each migration."""

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """No table changes."""
