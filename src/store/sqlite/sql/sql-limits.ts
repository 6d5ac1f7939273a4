const MIB = 1024 * 1024

/**
 * SQLite's own limits for SQL from users. `length` is the one that stops `printf('%.*c', 900000000, 'x')` and its
 * like, which no deadline inside SQLite can. Early versions of Node 24 ignore these: a test proves that each bites.
 */
export const ENGINE_LIMITS = {
  length: 64 * MIB,
  // The statements made around a filter are longer than the filter.
  sqlLength: 2 * MIB,
  exprDepth: 500,
  compoundSelect: 100,
  vdbeOp: 250_000,
  attach: 0,
  likePatternLength: 1000,
  triggerDepth: 1,
}
