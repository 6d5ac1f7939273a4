/** The transports, for code that opens sheets. */
export { parseStub } from '../derivation/kinds/http/network/stub-transport.ts'
export type { Transport } from '../derivation/kinds/http/call/transport.ts'
export { NetworkTransport } from '../derivation/kinds/http/network/network-transport.ts'
