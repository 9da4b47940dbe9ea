BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE devices (
	id INTEGER NOT NULL, 
	model VARCHAR(255) NOT NULL, 
	compute_capability_major INTEGER NOT NULL, 
	compute_capability_minor INTEGER NOT NULL, 
	limits JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (model)
);
INSERT INTO "devices" VALUES(1,'NVIDIA H200',9,0,'{"name": "NVIDIA H200", "compute_capability": [9, 0], "sm_count": 132, "threads_per_block": 1024, "threads_per_sm": 2048, "blocks_per_sm": 32, "registers_per_thread": 255, "registers_per_block": 65536, "registers_per_sm": 65536, "register_unit": 256, "shared_per_block": 232448, "shared_per_sm": 233472, "shared_reserved": 1024, "shared_unit": 128, "l2_bytes": 62914560, "clock_hz": 1980000000.0, "fp32_lanes": 128, "bandwidth": 4814304000000.0}');
CREATE TABLE meta (
	name VARCHAR(255) NOT NULL, 
	value VARCHAR(255) NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('pretuned','e3b0c44298fc1c14');
CREATE TABLE problems (
	id INTEGER NOT NULL, 
	operator VARCHAR(255) NOT NULL, 
	"key" VARCHAR(255) NOT NULL, 
	fields JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (operator, "key")
);
INSERT INTO "problems" VALUES(1,'sgemm','m256-n256-k256-nn','{"m": 256, "n": 256, "k": 256, "transpose_a": false, "transpose_b": false, "lda": 256, "ldb": 256, "ldc": 256, "batch": 1, "stride_a": 0, "stride_b": 0, "stride_c": 0, "read_c": false, "align_a": 16, "align_b": 16, "align_c": 16}');
INSERT INTO "problems" VALUES(2,'sgemm','m256-n256-k256-nn-beta','{"m": 256, "n": 256, "k": 256, "transpose_a": false, "transpose_b": false, "lda": 256, "ldb": 256, "ldc": 256, "batch": 1, "stride_a": 0, "stride_b": 0, "stride_c": 0, "read_c": true, "align_a": 16, "align_b": 16, "align_c": 16}');
INSERT INTO "problems" VALUES(3,'transpose','m16384-n32768-e4','{"m": 16384, "n": 32768, "element_bytes": 4, "batch": 1, "lda": 32768, "ldb": 16384, "stride_a": 0, "stride_b": 0, "align_a": 16, "align_b": 16}');
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
	compiler VARCHAR(255) NOT NULL, 
	generator VARCHAR(255) NOT NULL, 
	source VARCHAR(255) NOT NULL, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (device_id, problem_id, schedule_digest, time_source, generator), 
	CONSTRAINT seconds_positive CHECK (seconds > 0), 
	CONSTRAINT ok_has_seconds CHECK (status <> 'ok' OR seconds IS NOT NULL), 
	FOREIGN KEY(problem_id) REFERENCES problems (id), 
	FOREIGN KEY(device_id) REFERENCES devices (id), 
	CONSTRAINT status CHECK (status IN ('ok', 'illegal', 'compile_error', 'launch_error', 'wrong', 'timeout', 'crashed')), 
	CONSTRAINT time_source CHECK (time_source IN ('measured', 'modelled'))
);
INSERT INTO "trials" VALUES(1,1,1,'{"block_m": 16, "block_n": 64, "block_k": 32, "warp_m": 16, "warp_n": 32, "thread_m": 4, "thread_n": 4, "warps_k": 4, "lane_map": "z_order", "pad_a": 4, "pad_b": 0, "swizzle_a": false, "swizzle_b": false, "stages": 4, "transport_a": "async_copy", "transport_b": "async_copy", "copy_steps": 4, "double_buffer_fragments": true, "vector_a": 1, "vector_b": 4, "vector_c": 4, "ffma_order": "serpentine_row", "group_m": 8, "cluster_k": 1, "grid_blocks": 0, "min_blocks": 1, "specialize": "shape"}','df922068a8c555a2','ok','measured',6.65599992498755447557e-06,'[6.624000146985054e-06, 6.6559999249875545e-06, 6.6559999249875545e-06, 6.6559999249875545e-06, 6.6559999249875545e-06]','',7.27921860743663273751e-06,'{"registers": 72, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "a7ae5992-1057-11c3-f3b8-38f0bcf57208", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.0", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "sm_mhz": 1980, "memory_mhz": 3201, "celsius": 37}','NVRTC 13.0','123aed8524884a9f','2314cc6a0f5e0df02b8f688c94f9773c146bf7e643dba6a26cd23eb6a1be3f94','2026-11-22 03:24:25.432345');
INSERT INTO "trials" VALUES(2,1,1,'{"block_m": 16, "block_n": 64, "block_k": 32, "warp_m": 16, "warp_n": 32, "thread_m": 4, "thread_n": 4, "warps_k": 4, "lane_map": "z_order", "pad_a": 4, "pad_b": 0, "swizzle_a": false, "swizzle_b": false, "stages": 4, "transport_a": "async_copy", "transport_b": "async_copy", "copy_steps": 4, "double_buffer_fragments": true, "vector_a": 1, "vector_b": 4, "vector_c": 4, "ffma_order": "serpentine_row", "group_m": 8, "cluster_k": 1, "grid_blocks": 0, "min_blocks": 1, "specialize": "none"}','2ebe0e005f501cc7','ok','measured',6.8160002119839190487e-06,'[6.816000211983919e-06, 6.7839999683201315e-06, 6.816000211983919e-06, 6.816000211983919e-06, 6.7839999683201315e-06]','',7.27921860743663273751e-06,'{"registers": 80, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "a7ae5992-1057-11c3-f3b8-38f0bcf57208", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.0", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "sm_mhz": 1980, "memory_mhz": 3201, "celsius": 38, "lost_to": "df922068a8c555a2"}','NVRTC 13.0','123aed8524884a9f','737774c05ec97c58e3bdfad4b527981e8d8cd9e85bec83415d834501d93259e7','2026-11-22 03:24:26.383455');
INSERT INTO "trials" VALUES(3,2,1,'{"block_m": 16, "block_n": 64, "block_k": 32, "warp_m": 16, "warp_n": 32, "thread_m": 4, "thread_n": 4, "warps_k": 4, "lane_map": "z_order", "pad_a": 4, "pad_b": 0, "swizzle_a": false, "swizzle_b": false, "stages": 4, "transport_a": "async_copy", "transport_b": "async_copy", "copy_steps": 4, "double_buffer_fragments": true, "vector_a": 1, "vector_b": 4, "vector_c": 4, "ffma_order": "serpentine_row", "group_m": 8, "cluster_k": 1, "grid_blocks": 0, "min_blocks": 1, "specialize": "none"}','2ebe0e005f501cc7','ok','measured',6.8160002119839190487e-06,'[6.816000211983919e-06, 6.7839999683201315e-06, 6.816000211983919e-06, 6.816000211983919e-06, 6.7839999683201315e-06]','',7.27921860743663273751e-06,'{"registers": 80, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "a7ae5992-1057-11c3-f3b8-38f0bcf57208", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.0", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "sm_mhz": 1980, "memory_mhz": 3201, "celsius": 38}','NVRTC 13.0','123aed8524884a9f','737774c05ec97c58e3bdfad4b527981e8d8cd9e85bec83415d834501d93259e7','2026-11-22 03:24:26.383455');
INSERT INTO "trials" VALUES(4,3,1,'{"tile_m": 64, "tile_n": 64, "rows_per_thread": 8, "vector_load": 2, "vector_store": 2, "pad": 0, "swizzle": true, "group_m": 256, "streaming": true, "min_blocks": 4, "specialize": "none"}','eaf088da13dbbe04','ok','measured',1.06051194667816173558e-03,'[0.001059008002281189, 0.0010595840215682983, 0.001061311960220337, 0.0010610560178756713, 0.0010605119466781617]','',0.0,'{"registers": 62, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}','{"device": "NVIDIA H200", "uuid": "24c93693-1df4-8965-cd32-9f8883599a38", "driver": "580.159.4", "cuda": "13.0", "compiler": "NVRTC 13.0", "cuda-core": "1.2.0", "limits": "69812261eceb5a6b", "sm_mhz": 1980, "memory_mhz": 3201, "celsius": 43, "contest": {"own": 0.0010605119466781617, "others": {"copy": 0.0009544607520103456}, "libraries": {"cuda": "13.0"}}}','NVRTC 13.0','123aed8524884a9f','c4f790eaada94b88b3e0160f8a9b5ed4bf81f6891868e89381a3183906e7e648','2026-11-22 03:24:25.432345');
CREATE INDEX ix_trials_created_at ON trials (created_at);
COMMIT;
