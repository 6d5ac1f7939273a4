/** What a list is sorted by, the most important first. */
export interface SortTerm {
  readonly field: string
  readonly descending: boolean
}

/** As many fields as the server sorts by. */
const MOST_TERMS = 8

/** Reads `-area,name`. */
export function parseSort(sort: string | null): readonly SortTerm[] {
  if (sort === null) return []
  return sort
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '' && term !== '-')
    .map((term) => ({ field: term.replace(/^-/, ''), descending: term.startsWith('-') }))
}

/** Writes `-area,name`; null for creation order. */
export function formatSort(terms: readonly SortTerm[]): string | null {
  return terms.length === 0
    ? null
    : terms.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(',')
}

/** The next of ascending, descending and none for a field; `add` keeps the other fields. */
export function cycleSort(terms: readonly SortTerm[], field: string, add: boolean): readonly SortTerm[] {
  const now = terms.find((term) => term.field === field)
  if (now === undefined) return withSort(terms, { field, descending: false }, add)
  if (!now.descending) return withSort(terms, { field, descending: true }, add)
  return withoutSort(terms, field, add)
}

/** Sorts by a field, in its place when it is sorted by already. */
export function withSort(terms: readonly SortTerm[], wanted: SortTerm, add: boolean): readonly SortTerm[] {
  if (!add) return [wanted]
  const isThere = terms.some(({ field }) => field === wanted.field)
  if (isThere) return terms.map((term) => (term.field === wanted.field ? wanted : term))
  return [...terms.slice(0, MOST_TERMS - 1), wanted]
}

function withoutSort(terms: readonly SortTerm[], field: string, add: boolean): readonly SortTerm[] {
  return add ? terms.filter((term) => term.field !== field) : []
}
