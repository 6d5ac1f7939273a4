/** The order of a run that selects no cells, such as a revert or an import. */
export const NO_SELECTION = {
  targets: null,
  recordIds: null,
  force: false,
  overwriteManual: false,
  only: null,
  limit: null,
  maxCalls: null,
  maxCost: null,
  reuseResponses: false,
  stopAfterFailures: null,
} as const
