import { LineFile } from '../../sheet-files/line-file.ts'
import type { Connection } from '../database/connection.ts'

/** Writes the checkpoints of a store as `checkpoints.txt`; no file where there are none. */
export function writeCheckpoints(db: Connection, path: string): void {
  const notes = db.prepare('SELECT note FROM "$checkpoint" ORDER BY number').iterate()
  let file: LineFile | null = null
  try {
    for (const { note } of notes) {
      file ??= new LineFile(path)
      file.add(Buffer.from(String(note)))
    }
    file?.end()
  } finally {
    file?.close()
  }
}
