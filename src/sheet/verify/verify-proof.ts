import { closeSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { isJsonObject, jsonEqual } from '../../contract/json/json.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { checkProof, compareCheckpoints, parseProof, type CheckedProof } from '../../proof/entry-proof.ts'
import { sha256, verifySignature } from '../../proof/node-primitives.ts'
import { hashFile, memberOf, textLines } from '../../store/sheet-files/import-lines.ts'
import { readGiven, readGivenFile, type VerifyOptions } from './given-files.ts'

/** The result of verifying a proof. */
export interface ProofVerification extends CheckedProof {
  /** Whether a checkpoint that somebody has kept is that of the proof; null where none of the same log and size was given. */
  readonly isKept: boolean | null
  /** Whether the value is in the imported file; null where the line has it, and where no file was given. */
  readonly isInSource: boolean | null
}

/** Whether a file begins like a proof, which is a JSON object; sheets are directories, and archives begin otherwise. */
export function isProofFile(path: string): boolean {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return false
  }
  try {
    const start = Buffer.alloc(64)
    return /^\uFEFF?\s*\{/.test(start.toString('utf8', 0, readSync(fd, start)))
  } catch {
    return false
  } finally {
    closeSync(fd)
  }
}

/**
 * Verifies the proof of an entry in a file, without its sheet. Throws ValidationError for a file that is no proof, and what
 * {@link readGiven} throws.
 */
export async function verifyProof(path: string, options: VerifyOptions): Promise<ProofVerification> {
  const { outside, key, source } = await readGiven(options)
  const read = parseProof(await readGivenFile(path))
  if (read === null) {
    throw new ValidationError(`${basename(path)} is not a proof; give the file that \`colophon proof\` wrote`)
  }
  const checked = checkProof({ sha256, verify: verifySignature }, read, key)
  const faults = [...checked.faults]
  const compared = outside.map((note) =>
    note === null ? 'none' : compareCheckpoints(checked.checkpoint, note),
  )
  if (compared.includes('none')) faults.push('A checkpoint of --checkpoint is not one.')
  if (compared.includes('other-log')) faults.push('A checkpoint of --checkpoint is of another log.')
  if (compared.includes('contradicts')) {
    faults.push(
      `A checkpoint of --checkpoint is of ${checked.checkpoint.size} lines too, with another hash: one of the two histories was rewritten.`,
    )
  }
  let isInSource: boolean | null = null
  if (checked.value === 'in an imported file' && source !== null) {
    const fault = sourceFault(checked, source)
    isInSource = fault === null
    if (fault !== null) faults.push(fault)
  }
  return { ...checked, faults, isKept: compared.includes('same') ? true : null, isInSource }
}

/** Says why the value of a proof is not in the file that its line names; null where it is. */
function sourceFault({ proof }: CheckedProof, source: string): string | null {
  const line = JSON.parse(proof.line) as Readonly<Record<string, unknown>>
  if (hashFile(source) !== line['sha256']) {
    return `${basename(source)} is not the imported file, which has the SHA-256 ${String(line['sha256'])}.`
  }
  const { record_id: id, field, value } = proof.cell ?? { record_id: '', field: '', value: null }
  for (const { text } of textLines(source)) {
    if (text.trim() === '') continue
    const record: unknown = JSON.parse(text)
    if (!isJsonObject(record) || record['id'] !== id) continue
    const imported = memberOf(record, field)
    return jsonEqual(imported, value)
      ? null
      : `The imported file has another value of the field ${JSON.stringify(field)}: ${JSON.stringify(imported)}.`
  }
  return `The imported file has no record ${JSON.stringify(id)}.`
}
