import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { OperationError } from '../../errors/service-error.ts'
import { NetworkTransport, parseStub, type Transport } from '../../sheet/transports.ts'

/** The options for the calls of derivations. */
export interface TransportOptions {
  /** A file of prepared responses, used instead of the network (D41). */
  readonly stubFile: string | null
  /** The hosts that derivations may call, normalized as in the transport; an empty set allows none, null allows all. */
  readonly callableHosts: ReadonlySet<string> | null
}

/** Returns the transport of derivations' calls. Throws ServiceError for a stub file that cannot be used. */
export function callTransport({ stubFile, callableHosts }: TransportOptions): Transport {
  if (stubFile !== null) return readStub(stubFile)
  return new NetworkTransport({ allowedHosts: callableHosts, onLoaded: disablePretenuring })
}

/** Reads the file of `--stub` (D41). Throws OperationError and ValidationError. */
function readStub(path: string): ReturnType<typeof parseStub> {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OperationError(`the stub file ${basename(path)} cannot be read (${code ?? 'unknown error'})`)
  }
  return parseStub(text)
}

/**
 * Sets V8's `--no-allocation-site-pretenuring`, so that all objects are allocated in the young generation, where garbage is collected
 * within milliseconds. By default V8 allocates objects that tend to survive in the old generation, and decides so while the young
 * generation is small beside the hundreds of records of a run. These objects, and all that they refer to, are then collected by full
 * collections only, and each minor collection copies them.
 *
 * Call it after the modules for a run are loaded: Node.js compiles its own modules again after a change of flags.
 */
function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
