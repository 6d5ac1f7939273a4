import type { Contract } from '../../contract/contract.ts'
import { showNames } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { GroupQuery, JsonBytes, Summary } from '../../store/sheet-store.ts'
import type { GroupPeriod } from '../../store/named/stored-chart.ts'
import { conditionedSheet } from './conditioned-sheet.ts'
import { searchText } from './read-condition.ts'
import { selectFields } from './select-fields.ts'
import type { Sheet } from '../sheet.ts'

interface GroupsAsked {
  /** The fields to summarize; null counts only. */
  readonly fields?: readonly string[] | null
  /** The field by whose values records are grouped; null for no groups. */
  readonly group?: string | null
  /** A second field, which divides the groups, and the histograms of the fields. */
  readonly split?: string | null
  /** Numbers and integers to add up in each group. */
  readonly totals?: readonly string[] | null
  readonly period?: GroupPeriod
}

export interface SummarizeQuery extends GroupsAsked {
  readonly fields: readonly string[] | null
  /** A boolean SQL expression over the fields (D16); null for all records. */
  readonly filter: string | null
  /** A condition as data, as in `listRecords`; null for all records. */
  readonly where?: string | null
  /** A text that the listed values of each field contain; null lists the most frequent values. */
  readonly search?: string | null
}

/**
 * Counts the records that match a filter and summarizes their values in some fields, as the JSON text of a Summary.
 * Throws ValidationError for an unknown field, a bad condition or search text, QueryError for a bad filter and beyond
 * the limits of queries (D19). When `signal` aborts, stops the work and throws its reason.
 */
export async function summarizeRecords(
  sheet: Sheet,
  query: SummarizeQuery,
  signal?: AbortSignal,
): Promise<JsonBytes> {
  const { fields, filter, where = null, search = null } = query
  const text = searchText(search)
  const { contract, store, where: condition } = await conditionedSheet(sheet, where)
  const groups = readGroups(contract, query)
  const { split: by = null, period = 'month' } = query
  const split = by === null || fields === null ? null : { by, period }
  if (filter === null && where === null && fields === null && groups === null) {
    // From the counters, without a query: viewers ask for the count all the time.
    const { total } = await store.status()
    return Buffer.from(JSON.stringify({ count: total, fields: {} } satisfies Summary))
  }
  return store.summary(
    { fields: selectFields(contract, fields ?? []), filter, where: condition, search: text, groups, split },
    signal,
  )
}

/** Validates the fields of groups; null for no groups. Throws ValidationError. */
export function readGroups(
  contract: Contract,
  { fields = null, group = null, split = null, totals = null, period = 'month' }: GroupsAsked,
): GroupQuery | null {
  if (group === null && totals !== null) throw new ValidationError('totals need group, the field to group by')
  if (group === null && fields === null && split !== null)
    throw new ValidationError(
      'split needs group, the field to group by, or fields, whose histograms it divides',
    )
  const keys = [group, split].filter((name) => name !== null)
  selectFields(contract, [...keys, ...(totals ?? [])])
  const typeOf = (name: string): string => contract.fieldByName.get(name)?.type ?? ''
  const nested = keys.filter((name) => ['array', 'object'].includes(typeOf(name)))
  if (nested.length > 0)
    throw new ValidationError(
      `cannot group by ${showNames(nested)}: its values are arrays or objects; choose a field of another type`,
    )
  if (group === null) return null
  const texts = (totals ?? []).filter((name) => !['number', 'integer'].includes(typeOf(name)))
  if (texts.length > 0)
    throw new ValidationError(`cannot add up ${showNames(texts)}: totals are of numbers and integers only`)
  return { by: group, split, totals: totals ?? [], period }
}
