import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Engine } from '../../test/support/engine.ts'
import type { Campaign, Counts } from '../campaign.ts'

/** A part of a campaign that ran without a break: one process, one commit, one seed. */
export interface Part {
  readonly campaign: string
  readonly engine: Engine
  /** The commit that was checked out. */
  readonly commit: string
  /** Whether files differed from the commit. */
  readonly modified: boolean
  readonly seed: number
  readonly startedAt: string
  readonly seconds: number
  readonly counts: Counts
  /** Further figures of the part, as text; null for none. */
  readonly note: string | null
  /** The error that ended the part, because a claim did not hold; null for none. */
  readonly violation: string | null
}

/** Reads the parts of a file; none when there is no file. */
export function readParts(file: string): readonly Part[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Part[]) : []
}

/** Writes a part into a file beside those of other processes: in place of itself, or as the last one. */
export function writePart(file: string, part: Part): void {
  const isSame = ({ campaign, engine, startedAt }: Part): boolean =>
    campaign === part.campaign && engine === part.engine && startedAt === part.startedAt
  const parts = [...readParts(file).filter((other) => !isSame(other)), part]
  const beside = `${file}.${process.pid}`
  writeFileSync(beside, `${JSON.stringify(parts, null, 2)}\n`)
  renameSync(beside, file)
}

/** Adds counts. */
export function added(a: Counts, b: Counts): Counts {
  const units = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...units].map((unit) => [unit, (a[unit] ?? 0) + (b[unit] ?? 0)]))
}

/**
 * Returns the parts of a campaign on an engine that count: a part with a violation shows a bug and proves nothing, and of a campaign
 * that one part must finish the longest counts.
 */
export function partsOf(
  parts: readonly Part[],
  { name, isWhole = false }: Campaign,
  engine: Engine,
): readonly Part[] {
  const own = parts.filter(
    (part) => part.campaign === name && part.engine === engine && part.violation === null,
  )
  return isWhole ? own.toSorted((a, b) => b.seconds - a.seconds).slice(0, 1) : own
}

/** Whether counts reach a goal. */
export function isReached(goal: Counts, counts: Counts): boolean {
  return Object.entries(goal).every(([unit, count]) => (counts[unit] ?? 0) >= count)
}
