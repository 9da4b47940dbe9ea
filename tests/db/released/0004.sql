BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE calibrations (
	id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	uuid VARCHAR(255) NOT NULL, 
	driver VARCHAR(255) NOT NULL, 
	environment JSON NOT NULL, 
	conditions JSON NOT NULL, 
	figures JSON NOT NULL, 
	curves JSON NOT NULL, 
	taken_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(device_id) REFERENCES devices (id)
);
INSERT INTO "calibrations" VALUES(1,1,'GPU-1','580.159','{"uuid": "GPU-1", "driver": "580.159", "compiler": "NVRTC 13.0"}','{"stride": {"sm_mhz": 1980, "celsius": 40}}','{"copy_bandwidth": 4200000000000.0, "read_bandwidth": 4400000000000.0, "l1_latency": 2e-08, "fp32_peak": 65000000000000.0}','{"stride": [[4, 4000000000000.0], [8, 2000000000000.0]], "latency": [[16384, 2e-08], [268435456, 6.4e-07]]}','2026-11-21 12:00:00.000000');
CREATE TABLE database_info (
	name VARCHAR(255) NOT NULL, 
	value VARCHAR(255) NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "database_info" VALUES('view best_trials','9e80bfeee13042c4');
INSERT INTO "database_info" VALUES('view trials_sgemm','c82189da7d7bd2aa');
INSERT INTO "database_info" VALUES('view trials_transpose','7367a44bb4e9a325');
INSERT INTO "database_info" VALUES('view trials_reduce','ef77cdc9bfcf7913');
INSERT INTO "database_info" VALUES('view trials_softmax','e229d65d54e81235');
INSERT INTO "database_info" VALUES('view trials_scan','cb88e973431b7448');
INSERT INTO "database_info" VALUES('view trials_gemv','b0afb55976036ea7');
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
CREATE INDEX ix_calibrations_taken_at ON calibrations (taken_at);
CREATE VIEW best_trials AS
WITH verdicts AS (
  SELECT trials.*, row_number() OVER (
    PARTITION BY device_id, problem_id, schedule_digest
    ORDER BY time_source = 'modelled', created_at DESC, id DESC) AS recency
  FROM trials
), places AS (
  SELECT verdicts.*, row_number() OVER (
    PARTITION BY device_id, problem_id
    ORDER BY time_source = 'modelled', EXISTS (
      SELECT 1 FROM trials AS winner
      WHERE winner.device_id = verdicts.device_id AND winner.problem_id = verdicts.problem_id
        AND winner.time_source = verdicts.time_source AND winner.compiler = verdicts.compiler
        AND winner.schedule_digest = verdicts.lost_to AND winner.status = 'ok'), seconds, id) AS place
  FROM verdicts
  WHERE recency = 1 AND status = 'ok'
)
SELECT places.id AS id, problems.operator AS operator, problems."key" AS problem, devices.model AS device,
  places.seconds AS seconds, places.time_source AS time_source, places.schedule AS schedule,
  places.compiler AS compiler, places.run_id AS run_id, places.created_at AS created_at
FROM places
JOIN problems ON problems.id = places.problem_id
JOIN devices ON devices.id = places.device_id
WHERE places.place = 1;
CREATE VIEW trials_sgemm AS
SELECT trials.id AS id, problems."key" AS problem, devices.model AS device, trials.status AS status,
  trials.seconds AS seconds, trials.time_source AS time_source,
  json_extract(problems.fields, '$.m') AS "m",
  json_extract(problems.fields, '$.n') AS "n",
  json_extract(problems.fields, '$.k') AS "k",
  json_extract(problems.fields, '$.transpose_a') AS "transpose_a",
  json_extract(problems.fields, '$.transpose_b') AS "transpose_b",
  json_extract(problems.fields, '$.batch') AS "batch",
  json_extract(problems.fields, '$.lda') AS "lda",
  json_extract(problems.fields, '$.stride_a') AS "stride_a",
  json_extract(problems.fields, '$.align_a') AS "align_a",
  json_extract(problems.fields, '$.ldb') AS "ldb",
  json_extract(problems.fields, '$.stride_b') AS "stride_b",
  json_extract(problems.fields, '$.align_b') AS "align_b",
  json_extract(problems.fields, '$.ldc') AS "ldc",
  json_extract(problems.fields, '$.stride_c') AS "stride_c",
  json_extract(problems.fields, '$.align_c') AS "align_c",
  json_extract(problems.fields, '$.beta_nonzero') AS "beta_nonzero",
  json_extract(trials.schedule, '$.block_m') AS "block_m",
  json_extract(trials.schedule, '$.block_n') AS "block_n",
  json_extract(trials.schedule, '$.block_k') AS "block_k",
  json_extract(trials.schedule, '$.warp_m') AS "warp_m",
  json_extract(trials.schedule, '$.warp_n') AS "warp_n",
  json_extract(trials.schedule, '$.thread_m') AS "thread_m",
  json_extract(trials.schedule, '$.thread_n') AS "thread_n",
  json_extract(trials.schedule, '$.warps_k') AS "warps_k",
  json_extract(trials.schedule, '$.lane_map') AS "lane_map",
  json_extract(trials.schedule, '$.pad_a') AS "pad_a",
  json_extract(trials.schedule, '$.pad_b') AS "pad_b",
  json_extract(trials.schedule, '$.swizzle_a') AS "swizzle_a",
  json_extract(trials.schedule, '$.swizzle_b') AS "swizzle_b",
  json_extract(trials.schedule, '$.stages') AS "stages",
  json_extract(trials.schedule, '$.copy_a') AS "copy_a",
  json_extract(trials.schedule, '$.copy_b') AS "copy_b",
  json_extract(trials.schedule, '$.copy_steps') AS "copy_steps",
  json_extract(trials.schedule, '$.double_buffer_fragments') AS "double_buffer_fragments",
  json_extract(trials.schedule, '$.vector_a') AS "vector_a",
  json_extract(trials.schedule, '$.vector_b') AS "vector_b",
  json_extract(trials.schedule, '$.vector_c') AS "vector_c",
  json_extract(trials.schedule, '$.ffma_order') AS "ffma_order",
  json_extract(trials.schedule, '$.raster_group') AS "raster_group",
  json_extract(trials.schedule, '$.cluster_k') AS "cluster_k",
  json_extract(trials.schedule, '$.grid_blocks') AS "grid_blocks",
  json_extract(trials.schedule, '$.min_blocks_per_sm') AS "min_blocks_per_sm",
  json_extract(trials.schedule, '$.specialize') AS "specialize",
  trials.error AS error, trials.max_error AS max_error, trials.compiler AS compiler, trials.lost_to AS lost_to,
  trials.run_id AS run_id, trials.created_at AS created_at
FROM trials
JOIN problems ON problems.id = trials.problem_id
JOIN devices ON devices.id = trials.device_id
WHERE problems.operator = 'sgemm';
CREATE VIEW trials_transpose AS
SELECT trials.id AS id, problems."key" AS problem, devices.model AS device, trials.status AS status,
  trials.seconds AS seconds, trials.time_source AS time_source,
  json_extract(problems.fields, '$.m') AS "m",
  json_extract(problems.fields, '$.n') AS "n",
  json_extract(problems.fields, '$.element_bytes') AS "element_bytes",
  json_extract(problems.fields, '$.batch') AS "batch",
  json_extract(problems.fields, '$.lda') AS "lda",
  json_extract(problems.fields, '$.stride_a') AS "stride_a",
  json_extract(problems.fields, '$.align_a') AS "align_a",
  json_extract(problems.fields, '$.ldb') AS "ldb",
  json_extract(problems.fields, '$.stride_b') AS "stride_b",
  json_extract(problems.fields, '$.align_b') AS "align_b",
  json_extract(trials.schedule, '$.tile_m') AS "tile_m",
  json_extract(trials.schedule, '$.tile_n') AS "tile_n",
  json_extract(trials.schedule, '$.rows_per_thread') AS "rows_per_thread",
  json_extract(trials.schedule, '$.vector_load') AS "vector_load",
  json_extract(trials.schedule, '$.vector_store') AS "vector_store",
  json_extract(trials.schedule, '$.pad') AS "pad",
  json_extract(trials.schedule, '$.swizzle') AS "swizzle",
  json_extract(trials.schedule, '$.align_stores') AS "align_stores",
  json_extract(trials.schedule, '$.align_loads') AS "align_loads",
  json_extract(trials.schedule, '$.raster_group') AS "raster_group",
  json_extract(trials.schedule, '$.streaming') AS "streaming",
  json_extract(trials.schedule, '$.min_blocks_per_sm') AS "min_blocks_per_sm",
  json_extract(trials.schedule, '$.specialize') AS "specialize",
  trials.error AS error, trials.max_error AS max_error, trials.compiler AS compiler, trials.lost_to AS lost_to,
  trials.run_id AS run_id, trials.created_at AS created_at
FROM trials
JOIN problems ON problems.id = trials.problem_id
JOIN devices ON devices.id = trials.device_id
WHERE problems.operator = 'transpose';
CREATE VIEW trials_reduce AS
SELECT trials.id AS id, problems."key" AS problem, devices.model AS device, trials.status AS status,
  trials.seconds AS seconds, trials.time_source AS time_source,
  json_extract(problems.fields, '$.rows') AS "rows",
  json_extract(problems.fields, '$.columns') AS "columns",
  json_extract(problems.fields, '$.op') AS "op",
  json_extract(problems.fields, '$.axis') AS "axis",
  json_extract(problems.fields, '$.dtype') AS "dtype",
  json_extract(problems.fields, '$.ldx') AS "ldx",
  json_extract(problems.fields, '$.align_x') AS "align_x",
  json_extract(trials.schedule, '$.threads') AS "threads",
  json_extract(trials.schedule, '$.threads_per_row') AS "threads_per_row",
  json_extract(trials.schedule, '$.vector_width') AS "vector_width",
  json_extract(trials.schedule, '$.loads_in_flight') AS "loads_in_flight",
  json_extract(trials.schedule, '$.splits') AS "splits",
  json_extract(trials.schedule, '$.streaming') AS "streaming",
  json_extract(trials.schedule, '$.specialize') AS "specialize",
  trials.error AS error, trials.max_error AS max_error, trials.compiler AS compiler, trials.lost_to AS lost_to,
  trials.run_id AS run_id, trials.created_at AS created_at
FROM trials
JOIN problems ON problems.id = trials.problem_id
JOIN devices ON devices.id = trials.device_id
WHERE problems.operator = 'reduce';
CREATE VIEW trials_softmax AS
SELECT trials.id AS id, problems."key" AS problem, devices.model AS device, trials.status AS status,
  trials.seconds AS seconds, trials.time_source AS time_source,
  json_extract(problems.fields, '$.rows') AS "rows",
  json_extract(problems.fields, '$.columns') AS "columns",
  json_extract(problems.fields, '$.dtype') AS "dtype",
  json_extract(problems.fields, '$.lengths') AS "lengths",
  json_extract(problems.fields, '$.ldx') AS "ldx",
  json_extract(problems.fields, '$.align_x') AS "align_x",
  json_extract(problems.fields, '$.ldy') AS "ldy",
  json_extract(problems.fields, '$.align_y') AS "align_y",
  json_extract(trials.schedule, '$.threads') AS "threads",
  json_extract(trials.schedule, '$.threads_per_row') AS "threads_per_row",
  json_extract(trials.schedule, '$.cluster') AS "cluster",
  json_extract(trials.schedule, '$.vector_width') AS "vector_width",
  json_extract(trials.schedule, '$.hold') AS "hold",
  json_extract(trials.schedule, '$.loads_in_flight') AS "loads_in_flight",
  json_extract(trials.schedule, '$.streaming') AS "streaming",
  json_extract(trials.schedule, '$.min_blocks_per_sm') AS "min_blocks_per_sm",
  json_extract(trials.schedule, '$.specialize') AS "specialize",
  json_extract(trials.schedule, '$.passes') AS "passes",
  trials.error AS error, trials.max_error AS max_error, trials.compiler AS compiler, trials.lost_to AS lost_to,
  trials.run_id AS run_id, trials.created_at AS created_at
FROM trials
JOIN problems ON problems.id = trials.problem_id
JOIN devices ON devices.id = trials.device_id
WHERE problems.operator = 'softmax';
CREATE VIEW trials_scan AS
SELECT trials.id AS id, problems."key" AS problem, devices.model AS device, trials.status AS status,
  trials.seconds AS seconds, trials.time_source AS time_source,
  json_extract(problems.fields, '$.rows') AS "rows",
  json_extract(problems.fields, '$.columns') AS "columns",
  json_extract(problems.fields, '$.op') AS "op",
  json_extract(problems.fields, '$.dtype') AS "dtype",
  json_extract(problems.fields, '$.wide') AS "wide",
  json_extract(problems.fields, '$.exclusive') AS "exclusive",
  json_extract(problems.fields, '$.reverse') AS "reverse",
  json_extract(problems.fields, '$.flags') AS "flags",
  json_extract(problems.fields, '$.offsets') AS "offsets",
  json_extract(problems.fields, '$.segments') AS "segments",
  json_extract(problems.fields, '$.ldx') AS "ldx",
  json_extract(problems.fields, '$.align_x') AS "align_x",
  json_extract(problems.fields, '$.ldy') AS "ldy",
  json_extract(problems.fields, '$.align_y') AS "align_y",
  json_extract(problems.fields, '$.align_flags') AS "align_flags",
  json_extract(trials.schedule, '$.algorithm') AS "algorithm",
  json_extract(trials.schedule, '$.threads') AS "threads",
  json_extract(trials.schedule, '$.threads_per_row') AS "threads_per_row",
  json_extract(trials.schedule, '$.vector_width') AS "vector_width",
  json_extract(trials.schedule, '$.rounds') AS "rounds",
  json_extract(trials.schedule, '$.delay') AS "delay",
  json_extract(trials.schedule, '$.streaming') AS "streaming",
  json_extract(trials.schedule, '$.min_blocks_per_sm') AS "min_blocks_per_sm",
  json_extract(trials.schedule, '$.specialize') AS "specialize",
  trials.error AS error, trials.max_error AS max_error, trials.compiler AS compiler, trials.lost_to AS lost_to,
  trials.run_id AS run_id, trials.created_at AS created_at
FROM trials
JOIN problems ON problems.id = trials.problem_id
JOIN devices ON devices.id = trials.device_id
WHERE problems.operator = 'scan';
CREATE VIEW trials_gemv AS
SELECT trials.id AS id, problems."key" AS problem, devices.model AS device, trials.status AS status,
  trials.seconds AS seconds, trials.time_source AS time_source,
  json_extract(problems.fields, '$.n') AS "n",
  json_extract(problems.fields, '$.k') AS "k",
  json_extract(problems.fields, '$.m') AS "m",
  json_extract(problems.fields, '$.order') AS "order",
  json_extract(problems.fields, '$.dtype') AS "dtype",
  json_extract(problems.fields, '$.batch') AS "batch",
  json_extract(problems.fields, '$.bias') AS "bias",
  json_extract(problems.fields, '$.activation') AS "activation",
  json_extract(problems.fields, '$.beta_nonzero') AS "beta_nonzero",
  json_extract(problems.fields, '$.ldx') AS "ldx",
  json_extract(problems.fields, '$.stride_x') AS "stride_x",
  json_extract(problems.fields, '$.align_x') AS "align_x",
  json_extract(problems.fields, '$.ldw') AS "ldw",
  json_extract(problems.fields, '$.stride_w') AS "stride_w",
  json_extract(problems.fields, '$.align_w') AS "align_w",
  json_extract(problems.fields, '$.ldy') AS "ldy",
  json_extract(problems.fields, '$.stride_y') AS "stride_y",
  json_extract(problems.fields, '$.align_y') AS "align_y",
  json_extract(trials.schedule, '$.threads') AS "threads",
  json_extract(trials.schedule, '$.threads_per_output') AS "threads_per_output",
  json_extract(trials.schedule, '$.strips') AS "strips",
  json_extract(trials.schedule, '$.vector_width') AS "vector_width",
  json_extract(trials.schedule, '$.loads_in_flight') AS "loads_in_flight",
  json_extract(trials.schedule, '$.stages') AS "stages",
  json_extract(trials.schedule, '$.cluster') AS "cluster",
  json_extract(trials.schedule, '$.splits') AS "splits",
  json_extract(trials.schedule, '$.weight_loads') AS "weight_loads",
  json_extract(trials.schedule, '$.min_blocks_per_sm') AS "min_blocks_per_sm",
  json_extract(trials.schedule, '$.specialize') AS "specialize",
  trials.error AS error, trials.max_error AS max_error, trials.compiler AS compiler, trials.lost_to AS lost_to,
  trials.run_id AS run_id, trials.created_at AS created_at
FROM trials
JOIN problems ON problems.id = trials.problem_id
JOIN devices ON devices.id = trials.device_id
WHERE problems.operator = 'gemv';
COMMIT;
