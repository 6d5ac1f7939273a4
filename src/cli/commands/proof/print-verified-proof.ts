import { verifyProof, type ProofVerification } from '../../../sheet/verify/verify-proof.ts'
import type { VerifyOptions } from '../../../sheet/verify/verify-sheet.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import type { Output } from '../../terminal/output.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleText } from '../../terminal/visible-text.ts'

/** Verifies the proof in a file and prints whether it holds, and what it shows. Throws as {@link verifyProof} does. */
export async function printVerifiedProof(
  out: Output,
  path: string,
  options: VerifyOptions,
): Promise<ExitCode> {
  const verified = await verifyProof(path, options)
  const { proof, checkpoint, faults, signature, isKept, isInSource, isErased } = verified
  const answer = {
    holds: faults.length === 0,
    faults,
    cell: proof.cell,
    seq: proof.seq,
    line: proof.line,
    checkpoint: { origin: checkpoint.origin, size: checkpoint.size, signature, kept: isKept },
    in_source: isInSource,
    erased: isErased,
  }
  await out.print(answer, (screen) => textOf(verified, screen))
  return faults.length === 0 ? EXIT.done : EXIT.error
}

function textOf(verified: ProofVerification, screen: Screen): string {
  const { proof, checkpoint, faults, value, signature, isKept, isInSource, isErased } = verified
  if (faults.length > 0) {
    return [
      `${screen.paint('red', '✘')} the proof does not hold`,
      ...faults.map((fault) => `  ${visibleText(fault)}`),
    ].join('\n')
  }
  const { cell } = proof
  const mark = screen.paint('yellow', 'not shown:')
  return [
    `${screen.paint('green', '✔')} line ${proof.index + 1} of the log ${checkpoint.origin} is as the proof says`,
    ...(cell === null
      ? []
      : [
          visibleText(
            `record ${JSON.stringify(cell.record_id)}, field ${JSON.stringify(cell.field)}: ${JSON.stringify(cell.value)}`,
          ),
        ]),
    visibleText(proof.line),
    ...(isErased
      ? [`${mark} what the line has: values were erased from it, and only its hash of before is proved`]
      : []),
    ...(signature === 'signed' ? ['the checkpoint has a signature of the key'] : []),
    ...(isKept === true ? ['the checkpoint is one that you gave'] : []),
    ...(isInSource === true ? ['the imported file has the value'] : []),
    ...(value === 'in an imported file' && isInSource === null
      ? [`${mark} the value, which is in the imported file; give it with --source`]
      : []),
    ...(value === 'by a conversion'
      ? [`${mark} the value, which the line made of an earlier one when the field got another type`]
      : []),
    ...(cell === null ? [] : [`${mark} that no later line changed the cell`]),
    ...(isKept === true
      ? []
      : [`${mark} that the checkpoint is the one that others have; give yours with --checkpoint`]),
  ].join('\n')
}
