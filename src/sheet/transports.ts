/** The transports, for code that opens sheets. */
export { parseStub } from '../derivation/transport/network/stub-transport.ts'
export type { Transport } from '../derivation/transport/call/transport.ts'
export { NetworkTransport } from '../derivation/transport/network/network-transport.ts'
