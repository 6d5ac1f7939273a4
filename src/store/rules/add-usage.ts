import type { RecordedUsage, UsedAmounts } from '../cell-work.ts'

const NONE: RecordedUsage = { results: 0, amounts: {} }

/** Returns what a commit adds to the recorded usage, by key. */
export function usageByKey(used: readonly UsedAmounts[]): ReadonlyMap<string, RecordedUsage> {
  const sums = new Map<string, RecordedUsage>()
  for (const { key, amounts } of used) {
    sums.set(key, sumOfUsage(sums.get(key) ?? NONE, { results: 1, amounts }))
  }
  return sums
}

/** Returns the sum of recorded usages; amounts that a server reports without end stay numbers that JSON has. */
export function sumOfUsage(one: RecordedUsage, other: RecordedUsage): RecordedUsage {
  const amounts = { ...one.amounts }
  for (const [name, amount] of Object.entries(other.amounts)) {
    amounts[name] = Math.min((amounts[name] ?? 0) + amount, Number.MAX_SAFE_INTEGER)
  }
  return { results: one.results + other.results, amounts }
}

/** Returns a recorded usage as stored; null for none. */
export function readUsage(text: unknown): RecordedUsage | null {
  return typeof text === 'string' ? (JSON.parse(text) as RecordedUsage) : null
}
