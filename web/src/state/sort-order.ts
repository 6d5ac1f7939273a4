/** A field of the sort order. */
export interface SortTerm {
  readonly field: string
  readonly descending: boolean
}

/** The server's limit of sort fields. */
const MAX_TERMS = 8

/** Parses `-area,name`. */
export function parseSort(sort: string | null): readonly SortTerm[] {
  if (sort === null) return []
  return sort
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '' && term !== '-')
    .map((term) => ({ field: term.replace(/^-/, ''), descending: term.startsWith('-') }))
}

/** Formats `-area,name`; null for creation order. */
export function formatSort(terms: readonly SortTerm[]): string | null {
  return terms.length === 0
    ? null
    : terms.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(',')
}

/** Advances a field from ascending to descending to none; `add` keeps the other fields. */
export function cycleSort(terms: readonly SortTerm[], field: string, add: boolean): readonly SortTerm[] {
  const now = terms.find((term) => term.field === field)
  if (now === undefined) return withSort(terms, { field, descending: false }, add)
  if (!now.descending) return withSort(terms, { field, descending: true }, add)
  return withoutSort(terms, field, add)
}

/** Sorts by a field, keeping its position if it has one. */
export function withSort(terms: readonly SortTerm[], wanted: SortTerm, add: boolean): readonly SortTerm[] {
  if (!add) return [wanted]
  const exists = terms.some(({ field }) => field === wanted.field)
  if (exists) return terms.map((term) => (term.field === wanted.field ? wanted : term))
  return [...terms.slice(0, MAX_TERMS - 1), wanted]
}

function withoutSort(terms: readonly SortTerm[], field: string, add: boolean): readonly SortTerm[] {
  return add ? terms.filter((term) => term.field !== field) : []
}
