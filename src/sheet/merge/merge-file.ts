import { spawnSync } from 'node:child_process'
import { readFileSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { showValue } from '../../contract/json/show-value.ts'
import { OperationError, RecordsError } from '../../errors/service-error.ts'
import { mergeLogs, UnmergeableLog } from '../../provenance/merge/merge-logs.ts'
import { CHECKPOINT_FILE } from '../../store/sheet-files/checkpoint-file.ts'
import { textLines } from '../../store/sheet-files/import-lines.ts'
import { LineFile } from '../../store/sheet-files/line-file.ts'
import { mergeCheckpoints } from './merge-checkpoints.ts'
import { mergeRecords, UnmergeableRecords, type RecordConflict } from './merge-records.ts'

/** The arguments of a merge driver of git (gitattributes(5)). */
export interface DriverFiles {
  /** The files with the versions: of the common ancestor, of this branch, which receives the result, and of the other branch. */
  readonly base: string
  readonly ours: string
  readonly theirs: string
  /** The path of the merged file in the repository. */
  readonly path: string
}

/** The result of a merge of one file. */
export interface FileMerge {
  /** Whether nothing is left for a person to resolve in the file. */
  readonly isMerged: boolean
  /** The decisions of the merge. */
  readonly notes: readonly string[]
}

/**
 * Merges a file of a sheet for git, record by record and line by line, and writes the result into the file of this branch.
 * Other files, and what cannot be merged so, are merged as texts by `git merge-file`. Throws OperationError where that
 * fails.
 */
export function mergeFile(files: DriverFiles): FileMerge {
  const merge = MERGES[basename(files.path)]
  if (merge === undefined) return mergeTexts(files, [])
  try {
    return merge(files)
  } catch (error) {
    if (!(
      error instanceof UnmergeableRecords ||
      error instanceof UnmergeableLog ||
      error instanceof RecordsError
    ))
      throw error
    return mergeTexts(files, [`${files.path}: merged as text, since ${error.message}`])
  }
}

const LOG_FILE = 'provenance.jsonl'

const MERGES: Readonly<Record<string, (files: DriverFiles) => FileMerge>> = {
  'records.jsonl': mergeRecordFiles,
  [LOG_FILE]: mergeLogFiles,
  [CHECKPOINT_FILE]: mergeCheckpointFiles,
}

/** Conflicts that are listed one by one. */
const LISTED = 100

function mergeRecordFiles({ base, ours, theirs, path }: DriverFiles): FileMerge {
  const notes: string[] = []
  let conflicts = 0
  const lines = mergeRecords(
    { base: textsOf(base), ours: textsOf(ours), theirs: textsOf(theirs) },
    (conflict) => {
      conflicts += 1
      if (conflicts <= LISTED) notes.push(`${path}: ${conflictText(conflict)}`)
    },
  )
  replaceWith(ours, lines)
  if (conflicts > LISTED) notes.push(`${path}: and ${conflicts - LISTED} more`)
  if (conflicts === 0 || isTracked(join(dirname(path), LOG_FILE))) return { isMerged: true, notes }
  notes.push(
    `${path}: ${LOG_FILE} beside it is not in git, so that the other values are in no proposal; resolve them by hand`,
  )
  return { isMerged: false, notes }
}

function conflictText({ id, kind, field, ours, theirs }: RecordConflict): string {
  const record = `record ${showValue(id)}`
  if (kind === 'deleted-by-ours') return `${record}: deleted here and changed there; it is kept`
  if (kind === 'deleted-by-theirs') return `${record}: changed here and deleted there; it is kept`
  return `${record}, field "${field}": ${showValue(ours)} here stays, and ${showValue(theirs)} there is proposed`
}

function mergeLogFiles({ ours, theirs, path }: DriverFiles): FileMerge {
  const { ours: own, added, proposals, theirs: count } = mergeLogs([...textsOf(ours)], [...textsOf(theirs)])
  replaceWith(ours, concat(own, added))
  const proposed = proposals === 0 ? '' : `, ${proposals} of them proposals`
  return {
    isMerged: true,
    notes: [`${path}: ${count} lines of the other branch are ${added.length} lines here${proposed}`],
  }
}

function mergeCheckpointFiles(files: DriverFiles): FileMerge {
  const { ours, theirs, path } = files
  const merged = mergeCheckpoints(readFileSync(ours, 'utf8'), readFileSync(theirs, 'utf8'))
  if (merged === null)
    return mergeTexts(files, [`${path}: merged as text, since it is not a file of checkpoints`])
  replaceWith(ours, merged.text.split('\n').slice(0, -1))
  const notes = merged.left.map(
    (size) =>
      `${path}: the checkpoint of ${size} lines of the other branch does not hold here, and is left out`,
  )
  return { isMerged: true, notes }
}

function* textsOf(path: string): Generator<string, void> {
  for (const { text } of textLines(path)) yield text
}

function* concat(first: readonly string[], second: readonly string[]): Generator<string, void> {
  yield* first
  yield* second
}

/** Replaces a file by one with these lines once all of them are written: they may be read from it. */
function replaceWith(path: string, lines: Iterable<string>): void {
  const building = `${path}.merged`
  const file = new LineFile(building)
  try {
    for (const line of lines) file.add(Buffer.from(line))
    file.end()
  } finally {
    file.close()
  }
  renameSync(building, path)
}

/** Whether git has a file; false where that cannot be found out. */
function isTracked(path: string): boolean {
  return spawnSync('git', ['ls-files', '--error-unmatch', '--', path], { stdio: 'ignore' }).status === 0
}

/** The highest exit code of `git merge-file` for conflicts; higher ones are errors. */
const MOST_CONFLICTS = 127

function mergeTexts({ base, ours, theirs, path }: DriverFiles, notes: readonly string[]): FileMerge {
  const labels = ['-L', 'ours', '-L', 'base', '-L', 'theirs']
  const { status, error, stderr } = spawnSync('git', ['merge-file', ...labels, ours, base, theirs], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (status === null || status > MOST_CONFLICTS) {
    const why = error?.message ?? stderr.trim()
    throw new OperationError(`${path} cannot be merged as text by git merge-file: ${why}`)
  }
  const left =
    status === 0 ? [] : [`${path}: ${status} conflicts are left between markers; resolve them by hand`]
  return { isMerged: status === 0, notes: [...notes, ...left] }
}
