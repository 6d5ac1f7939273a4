import { SheetError } from '../../../errors/service-error.ts'
import { makeCheckpoint, proveEntry } from '../../../sheet/proof/prove.ts'
import { toProofAnswer, type ProofAnswer } from '../../../wire/records/log.ts'
import type { CommandContext } from '../../options/command-context.ts'

/** A cell by the id of its record and its field. */
interface ProvedCell {
  readonly recordId: string
  readonly field: string
}

/** Makes a checkpoint, and prints its text. Throws as {@link makeCheckpoint} does. */
export async function printCheckpoint({ sheet, out }: CommandContext): Promise<void> {
  const { note } = await makeCheckpoint(sheet)
  await out.write(note)
}

/**
 * Prints the proof of the latest entry of a cell as JSON, and makes a checkpoint for it where none covers that. Throws as {@link
 * proveEntry} does.
 */
export async function printProof({ sheet, out }: CommandContext, cell: ProvedCell): Promise<void> {
  await out.write(`${JSON.stringify(await proofOf(sheet, cell), null, 2)}\n`)
}

async function proofOf(sheet: CommandContext['sheet'], cell: ProvedCell): Promise<ProofAnswer> {
  try {
    return toProofAnswer(await proveEntry(sheet, cell))
  } catch (error) {
    if (!(error instanceof SheetError) || error.code !== 'unknown_checkpoint') throw error
    await makeCheckpoint(sheet)
    return toProofAnswer(await proveEntry(sheet, cell))
  }
}
