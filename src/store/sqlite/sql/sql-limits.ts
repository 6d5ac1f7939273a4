const MIB = 1024 * 1024

/**
 * SQLite's own limits for SQL from users. `length` stops `printf('%.*c', 900000000, 'x')` and the like, which no deadline
 * inside SQLite can. Early versions of Node 24 ignore these: a test proves that each has effect.
 */
export const ENGINE_LIMITS = {
  length: 64 * MIB,
  // The statements around a filter are longer than the filter.
  sqlLength: 2 * MIB,
  exprDepth: 500,
  compoundSelect: 100,
  vdbeOp: 250_000,
  attach: 0,
  likePatternLength: 1000,
  triggerDepth: 1,
}
