import { StubTransport } from '../../derivation/transport/network/stub-transport.ts'
import type { Transport } from '../../derivation/transport/call/transport.ts'

/** Returns a transport for operations that make no calls. It has no responses, and is quick to load. */
export function noCalls(): Transport {
  return new StubTransport({ responses: new Map() })
}
