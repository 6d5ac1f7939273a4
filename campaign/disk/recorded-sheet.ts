import { rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { userInfo } from 'node:os'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import type { Engine } from '../../test/support/engine.ts'
import { NOBODY, startPostgresWith, type TestPostgres } from '../../test/support/postgres.ts'
import { copyBefore, writeImage, type Before, type Image } from './crash-image.ts'
import { watchedFiles } from './files-library.ts'
import { ACTOR } from './served-sheet.ts'

/** The settings of a database that survives a power loss, small so that an image is written quickly. */
export const DURABLE = `
shared_buffers = 16MB
wal_sync_method = fdatasync
io_method = sync
jit = off
wal_recycle = on
min_wal_size = 32MB
max_wal_size = 48MB
checkpoint_timeout = 30s
checkpoint_completion_target = 0.1
max_connections = 60
`

/** Those of the database that opens an image: it is thrown away afterwards. */
const UNSAFE = `
fsync = off
shared_buffers = 16MB
io_method = sync
jit = off
max_connections = 60
`

/** The schema of the sheet in the database. */
const SCHEMA = 'sheet'

/** A new sheet whose files are recorded: those of its directory, or those of a PostgreSQL that has it. */
export interface RecordedSheet {
  /** The directory or the URL by which it is served. */
  readonly place: string
  /** The directory whose files are recorded, and what was in it before. */
  readonly directory: string
  readonly before: Before
  /** The environment of the server. */
  readonly env: NodeJS.ProcessEnv
  /** Ends what runs beside the server. */
  end(): Promise<void>
}

/** The paths of a recorded sheet. */
export interface Recording {
  /** The files of the sheet. */
  readonly files: string
  /** The path of the trace, and of the copy that is made before. */
  readonly trace: string
  readonly copy: string
}

/** Prepares the recording of a sheet on an engine. On PostgreSQL the sheet is pushed, too. */
export function recordSheet(engine: Engine, recording: Recording): Promise<RecordedSheet> {
  return engine === 'sqlite' ? Promise.resolve(recordDirectory(recording)) : recordDatabase(recording)
}

function recordDirectory({ files, trace, copy }: Recording): RecordedSheet {
  return {
    place: files,
    directory: files,
    before: copyBefore(files, copy),
    env: watchedFiles(files, { trace }),
    end: () => Promise.resolve(),
  }
}

async function recordDatabase({ files, trace, copy }: Recording): Promise<RecordedSheet> {
  let before: Before | null = null
  let directory = ''
  writeFileSync(trace, '', { mode: 0o666 })
  own(trace)
  const postgres = await startPostgresWith(DURABLE, {
    env: (data) => {
      directory = data
      before = copyBefore(data, copy)
      return watchedFiles(data, { trace })
    },
  })
  try {
    const place = postgres.url(SCHEMA)
    await pushSheet(files, place, { actor: ACTOR, note: null, dryRun: false, lockTimeoutMs: 30_000 })
    if (before === null) throw new Error('the database was not copied')
    return { place, directory, before, env: {}, end: () => postgres.remove() }
  } catch (error) {
    await postgres.remove()
    throw error
  }
}

/** Uses the sheet of an image, which is removed afterwards. */
export async function withImage(
  engine: Engine,
  { image, copy, directory }: { image: Image; copy: string; directory: string },
  use: (place: string) => Promise<void>,
): Promise<void> {
  if (engine === 'sqlite') {
    writeImage(image, copy, directory)
    await use(directory)
    rmSync(directory, { recursive: true })
    return
  }
  const postgres = await startImage(image, copy)
  try {
    await use(postgres.url(SCHEMA))
  } finally {
    await postgres.remove()
  }
}

function startImage(image: Image, copy: string): Promise<TestPostgres> {
  return startPostgresWith(UNSAFE, {
    fill: (data) => {
      writeImage(image, copy, data)
      // Of a process that the power loss has ended.
      rmSync(join(data, 'postmaster.pid'), { force: true })
      own(data)
    },
  })
}

/** Gives files to the user of the database. */
function own(path: string): void {
  spawnSync('chmod', ['-R', 'go-rwx', path])
  if (userInfo().uid === 0) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, path])
}
