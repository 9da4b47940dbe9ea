BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE database_info (
	name VARCHAR(255) NOT NULL, 
	value VARCHAR(255) NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE devices (
	id INTEGER NOT NULL, 
	model VARCHAR(255) NOT NULL, 
	compute_capability_major INTEGER NOT NULL, 
	compute_capability_minor INTEGER NOT NULL, 
	limits JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (model)
);
INSERT INTO "devices" VALUES(1,'NVIDIA H200',9,0,'{"sm_count": 132, "clock_hz": 1980000000.0}');
INSERT INTO "devices" VALUES(2,'Tesla T4',7,5,'{"sm_count": 40}');
CREATE TABLE problems (
	id INTEGER NOT NULL, 
	operator VARCHAR(255) NOT NULL, 
	"key" VARCHAR(255) NOT NULL, 
	fields JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (operator, "key")
);
INSERT INTO "problems" VALUES(1,'sgemm','m64_n64_k64','{"m": 64, "n": 64, "k": 64}');
INSERT INTO "problems" VALUES(2,'transpose','8x8','{"rows": 8, "columns": 8}');
CREATE TABLE runs (
	id VARCHAR(255) NOT NULL, 
	command TEXT NOT NULL, 
	operator VARCHAR(255) NOT NULL, 
	options JSON NOT NULL, 
	sampler VARCHAR(255) NOT NULL, 
	seed INTEGER NOT NULL, 
	devices JSON NOT NULL, 
	begun_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	outcome VARCHAR(32), 
	error TEXT NOT NULL, 
	counts JSON NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ended_has_outcome CHECK ((outcome IS NULL) = (ended_at IS NULL)), 
	CONSTRAINT outcome CHECK (outcome IN ('done', 'interrupted', 'failed'))
);
CREATE TABLE trials (
	id INTEGER NOT NULL, 
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	schedule JSON NOT NULL, 
	schedule_digest VARCHAR(255) NOT NULL, 
	status VARCHAR(32) NOT NULL, 
	time_source VARCHAR(32) NOT NULL, 
	seconds FLOAT, 
	samples JSON NOT NULL, 
	error TEXT NOT NULL, 
	max_error FLOAT, 
	resources JSON NOT NULL, 
	environment JSON NOT NULL, 
	conditions JSON NOT NULL, 
	lost_to VARCHAR(255) NOT NULL, 
	comparison JSON, 
	compiler VARCHAR(255) NOT NULL, 
	program_digest VARCHAR(255) NOT NULL, 
	created_at DATETIME NOT NULL, run_id VARCHAR(255) REFERENCES runs (id), 
	PRIMARY KEY (id), 
	UNIQUE (device_id, problem_id, schedule_digest, time_source, program_digest, compiler), 
	CONSTRAINT seconds_positive CHECK (seconds > 0), 
	CONSTRAINT ok_has_seconds CHECK (status <> 'ok' OR seconds IS NOT NULL), 
	FOREIGN KEY(problem_id) REFERENCES problems (id), 
	FOREIGN KEY(device_id) REFERENCES devices (id), 
	CONSTRAINT status CHECK (status IN ('ok', 'illegal', 'compile_error', 'launch_error', 'wrong', 'timeout', 'crashed')), 
	CONSTRAINT time_source CHECK (time_source IN ('measured', 'modelled'))
);
INSERT INTO "trials" VALUES(1,1,1,'{"block_m": 64, "name": "a"}','a','ok','measured',0.001,'[0.001]','it''s ünicode',1.0e-06,'{"registers": 128, "spill_store_bytes": 0}','{"driver": "580.159"}','{}','',NULL,'NVRTC 13.0','5555555555555555555555555555555555555555555555555555555555555555','2026-11-21 12:00:00.000000',NULL);
INSERT INTO "trials" VALUES(2,2,2,'{"block_m": 64, "name": "b"}','b','wrong','measured',NULL,'[]','',NULL,'{"registers": 128, "spill_store_bytes": 0}','{"driver": "580.159"}','{}','',NULL,'NVRTC 13.0','5555555555555555555555555555555555555555555555555555555555555555','2026-11-21 12:00:00.000000',NULL);
CREATE INDEX ix_trials_created_at ON trials (created_at);
CREATE INDEX ix_runs_begun_at ON runs (begun_at);
CREATE INDEX ix_trials_run_id ON trials (run_id);
COMMIT;
