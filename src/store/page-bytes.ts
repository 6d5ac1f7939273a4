/**
 * Bytes of JSON text that the records of one page take at most, unless the first alone takes more. A page that would take
 * more ends earlier: reading and sending one must not keep the main thread from other requests for longer than 50 ms.
 */
export const PAGE_BYTES: number = 4 << 20
