/**
 * The most bytes of JSON text of the records of one page, unless the first alone takes more. A page that would take more
 * ends earlier: reading and sending one must not block the main thread for longer than 50 ms.
 */
export const PAGE_BYTES: number = 4 << 20

/** The bytes of lines of the log that are read as text at once, beside the last line. */
export const LOG_TEXT_BYTES: number = 1 << 20
