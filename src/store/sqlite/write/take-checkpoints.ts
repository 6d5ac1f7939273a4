import { existsSync, readFileSync } from 'node:fs'
import { parseNotes } from '../../../proof/checkpoint.ts'
import { isEqual, RootHasher } from '../../../proof/merkle.ts'
import { leafOfLine, sha256 } from '../../../proof/node-primitives.ts'
import type { LogSource } from '../../../provenance/log-line.ts'
import { NOTES } from '../../rows/log-tree.ts'
import { addCheckpoint } from '../../rules/log/add-checkpoint.ts'
import { runSync } from '../../rules/steps.ts'
import { inFile, writeAnew } from '../../sheet-files/checkpoint-file.ts'
import type { ChangeSet } from '../changes/change-set.ts'

/**
 * Makes `checkpoints.txt` that of the store after lines were taken over into it: its checkpoints stay, and of others that the
 * file has, those are added that hold for the log. Returns the number of those that do not.
 */
export function takeCheckpoints(change: ChangeSet, log: LogSource, path: string): number {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const own = change.db.query(NOTES)
  if (text === own.map(inFile).join('')) return 0
  const others = parseNotes(text).filter((note) => note === null || !own.includes(note.text))
  const bySize = Map.groupBy(others, (note) => note?.size)
  const hasher = new RootHasher(sha256)
  let left = others.length
  for (const { seq, line } of others.length === 0 ? [] : log.linesAfter(0)) {
    hasher.add(leafOfLine(line))
    for (const note of bySize.get(hasher.size) ?? []) {
      if (note === null || !isEqual(note.root, hasher.root())) continue
      const { size, text: noted, signatures } = note
      if (runSync(addCheckpoint(change, { size, seq, isSigned: signatures.length > 0, note: noted })))
        left -= 1
    }
  }
  writeAnew(path, change.db.query(NOTES))
  return left
}
