import type { JsonObject } from '../../contract/json/json.ts'
import { isImportLine } from '../../provenance/log-line.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { erasedLeaf } from '../../proof/erased.ts'
import { leafOfLine } from '../../proof/node-primitives.ts'
import { CheckpointChecks, type CheckpointReport, type GivenCheckpoints } from './checkpoint-checks.ts'
import { compareRecords, type ComparedRecords } from './compare-records.ts'
import type { Differences } from './differences.ts'
import { isTooDeep } from './parsed-object.ts'
import { LogReplay, type UnknownImport } from './replay-log.ts'

/** A line of the log. */
export interface VerifiedLine {
  /** The seq under which the store has it; null where it is from a file only. */
  readonly seq: number | null
  readonly text: string
  /** The parsed text; null when it is not a line of a log. */
  readonly line: JsonObject | null
  /** The id of the record under which the store has it, null for none; absent where it is from a file only. */
  readonly owner?: string | null
}

/** The texts that are verified: others can do the same with them. */
export interface LogToVerify {
  /** The lines of the log, in their order. */
  readonly lines: Iterable<VerifiedLine>
  /** The records in the order of their creation, as JSON. */
  readonly records: Iterable<string>
  /** The seq of the last line that was imported with the log of an earlier store, which explains nothing of this one; 0 for none. */
  readonly historyAfter: number
  /** The file that the records were imported from, if it is at hand. */
  readonly source: string | null
  readonly checkpoints: GivenCheckpoints
}

/** The outcome of the comparison, apart from the differences. */
export interface LogReport {
  readonly lines: number
  /** The seq of the last line; 0 for none. */
  readonly lastSeq: number
  /** Lines of the log of an earlier store. */
  readonly earlierLines: number
  readonly records: ComparedRecords
  readonly checkpoints: CheckpointReport
  /** The import whose file was not at hand; null for none. */
  readonly unknownImport: UnknownImport | null
  /** Lines from which values were erased: the tree covers that they were there, and not what is left of them. */
  readonly erasedLines: number
}

/** The fault of a store that declares lines those of an earlier store, with which no import of records begins. */
const NO_IMPORT =
  'the lines before it count as those of an earlier store, and a store that takes over a log begins with an import of records'

/**
 * Replays the lines of a log, and compares what they leave with the records, and the roots of the Merkle tree over them with
 * checkpoints. Reads each text once, with little memory.
 */
export function verifyLog(log: LogToVerify, differences: Differences): LogReport {
  const checks = new CheckpointChecks(log.checkpoints, differences)
  const replay = new LogReplay(differences, log.source)
  const erasures = new Erasures(differences)
  try {
    let [last, earlierLines] = [0, 0]
    for (const { seq: stored, text, line: read, owner } of log.lines) {
      const line = isTooDeep(read, text) ? null : read
      checks.add(leafOfLine(text))
      const seq = Number(line?.['seq'])
      if (line === null || (stored !== null && stored !== seq)) {
        const place = `line number ${checks.size}`
        const fault =
          line === null ? 'is not a line of a log' : `has the seq ${seq}, and the store has it as ${stored}`
        differences.line(stored, `${place} ${fault}`)
        last = stored ?? last + 1
        continue
      }
      const isEarlier = seq <= log.historyAfter
      if (isEarlier ? seq <= last : seq !== Math.max(last, log.historyAfter) + 1)
        differences.line(seq, `follows the line ${last}`)
      if (!isEarlier && log.historyAfter > 0 && last <= log.historyAfter && !isImportLine(line))
        differences.line(seq, NO_IMPORT)
      last = seq
      erasures.add(line, text)
      const id = line['record_id']
      if (owner !== undefined && owner !== (typeof id === 'string' ? id : null))
        differences.line(
          seq,
          `the store has it as a line of ${owner === null ? 'no record' : `the record ${showValue(owner)}`}`,
        )
      if (isEarlier) earlierLines += 1
      else replay.add(line)
    }
    if (log.historyAfter > 0 && last <= log.historyAfter)
      differences.line(last, `no line follows. ${NO_IMPORT}`)
    const records = compareRecords(replay, log.records, differences)
    replay.finish()
    const erasedLines = erasures.end()
    const { unknownImport } = replay
    return {
      lines: checks.size,
      lastSeq: last,
      earlierLines,
      records,
      checkpoints: checks.end(),
      unknownImport,
      erasedLines,
    }
  } finally {
    replay.close()
  }
}

/** Holds the lines from which values were erased to those that say so, which come later. */
class Erasures {
  readonly #differences: Differences
  /** The seqs of such lines that no line has named yet. */
  readonly #unnamed = new Set<number>()
  #count = 0

  constructor(differences: Differences) {
    this.#differences = differences
  }

  add(line: JsonObject, text: string): void {
    const { seq, source, lines } = line
    if (line['erased'] !== undefined) {
      this.#count += 1
      this.#unnamed.add(Number(seq))
      if (erasedLeaf(text) === null)
        this.#differences.line(Number(seq), 'has no hash in place of its erased values')
    }
    if (source !== 'erase' || !Array.isArray(lines)) return
    for (const named of lines) this.#unnamed.delete(Number(named))
  }

  end(): number {
    for (const seq of this.#unnamed)
      this.#differences.line(seq, 'lacks erased values, and no later line says who has erased them')
    return this.#count
  }
}
