"""The tuning database: models, migrations, queries, pretuned records."""
