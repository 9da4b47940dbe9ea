"""The calibrations of a database, and those that ship with the package."""

from __future__ import annotations

import json

from sqlalchemy import select
from sqlalchemy.orm import Session

from autotune.search_spaces.machine.calibration import Calibration
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import file_stem
from autotune.search_spaces.machine.roofline import Peaks

from .connection import DatabaseConnection
from .errors import DatabaseError
from .models import CalibrationRow, DeviceRow
from .pretuned import CALIBRATION, shipped_folder
from .storing import device_id
from .trials import DeviceRecord


class StoredCalibrations(DatabaseConnection):
    """Every calibration ever made; the newest of a device model counts."""

    def record_calibration(self, calibration: Calibration, spec: DeviceSpec) -> None:
        """Store a calibration of a device with these limits, in one transaction."""
        device = DeviceRecord.of(spec)

        def add(session: Session) -> None:
            session.add(CalibrationRow.of(calibration, device_id(device, session)))

        self._write(add)

    def calibration(self, device: str) -> Calibration | None:
        """The newest calibration of a device model; without one, that which ships; None if there is none."""
        query = select(CalibrationRow).join(DeviceRow).where(DeviceRow.model == device)
        with self._read() as session:
            newest = session.scalar(query.order_by(CalibrationRow.taken_at.desc(), CalibrationRow.id.desc()).limit(1))
            return newest.plain if newest else shipped_calibration(device)

    def peaks(self, spec: DeviceSpec) -> Peaks:
        """The peaks of a device as they were measured; those of its limits, if none of its model were."""
        measured = self.calibration(spec.name)
        return measured.peaks(spec) if measured else spec


def shipped_calibration(device: str) -> Calibration | None:
    """The calibration of a device model; None if none ships.

    Raises:
        DatabaseError: the file states none.
    """
    path = shipped_folder() / file_stem(device) / CALIBRATION
    if not path.is_file():
        return None
    try:
        return Calibration.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise DatabaseError(f"{path}: {error}: correct or remove this file") from error
