//! Oracles shared by the fuzz targets.
