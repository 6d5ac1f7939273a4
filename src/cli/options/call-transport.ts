import { NetworkTransport, type Transport } from '../../sheet/transports.ts'
import { readStub } from './read-stub.ts'
import { keepObjectsYoung } from './disable-pretenuring.ts'

/** What decides on whom derivations call. */
export interface TransportOptions {
  /** File of prepared responses instead of the network (D41). */
  readonly stubFile: string | null
  /** The only hosts that derivations may call, as the transport compares them; none when it is empty, all for null. */
  readonly callableHosts: ReadonlySet<string> | null
}

/** What the calls of derivations go through. Throws ServiceError for a stub file that cannot be used. */
export function callTransport({ stubFile, callableHosts }: TransportOptions): Transport {
  if (stubFile !== null) return readStub(stubFile)
  return new NetworkTransport({ allowedHosts: callableHosts, onLoaded: keepObjectsYoung })
}
