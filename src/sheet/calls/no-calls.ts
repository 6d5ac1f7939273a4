import { StubTransport } from '../../derivation/kinds/http/network/stub-transport.ts'
import type { Transport } from '../../derivation/kinds/http/call/transport.ts'

/** A transport for operations that call nobody, which knows no answer; quick to load. */
export function noCalls(): Transport {
  return new StubTransport({ responses: new Map() })
}
