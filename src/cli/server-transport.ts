import { NetworkTransport, type Transport } from '../sheet/transports.ts'
import { readStub } from './read-stub.ts'

/** What the calls of a process go through that serves, or computes for, others. */
export interface TransportOptions {
  /** File of prepared responses instead of the network (D41). */
  readonly stubFile: string | null
  /** The only hosts that derivations may call, as the transport compares them; none when it is empty, all for null. */
  readonly callableHosts: ReadonlySet<string> | null
}

/** Throws ServiceError for a stub file that cannot be used. */
export function serverTransport({ stubFile, callableHosts }: TransportOptions): Transport {
  return stubFile === null ? new NetworkTransport({ allowedHosts: callableHosts }) : readStub(stubFile)
}
