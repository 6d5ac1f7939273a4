/** The pages in the order of the header. */
export const PAGES = [
  { path: '/', name: 'Records' },
  { path: '/derivations', name: 'Derivations' },
  { path: '/runs', name: 'Runs' },
  { path: '/proposals', name: 'Proposals' },
  { path: '/sql', name: 'SQL' },
  { path: '/contract', name: 'Contract' },
] as const

/** A page beside those of the header. */
export const DELETED_PAGE = { path: '/deleted', name: 'Deleted records' } as const
