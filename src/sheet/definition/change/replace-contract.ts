import { writeDocument } from '../../../contract/edit/write-document.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { ValidationError } from '../../../errors/service-error.ts'
import type { Sheet } from '../../sheet.ts'
import { bytesOfText } from './derivation-file.ts'
import {
  writeContract,
  type ContractOptions,
  type ContractReport,
  type NewContract,
} from './change-fields.ts'

/** A whole contract, as the text of the file or as a document; with neither it stays, and only derivations change. */
export interface WholeContract extends Omit<NewContract, 'text' | 'derivations'> {
  readonly text: string | undefined
  readonly document: unknown
  /** The texts of derivation files that change with it, by their names; null removes a file. */
  readonly derivations?: ReadonlyMap<string, string | null>
  /** The versions, hex SHA-256, that files of `derivations` must still have, by their names. */
  readonly versions?: ReadonlyMap<string, string>
}

/**
 * Replaces the contract, by another text or by a document; see {@link writeContract}, also for its errors. A text also replaces a contract
 * that is not valid. Throws ValidationError with both, with neither and no derivations, for a text with lone surrogates, and for the version of a file that does not change.
 */
export async function replaceContract(
  sheet: Sheet,
  { text, document, derivations = new Map(), versions = new Map(), ...fields }: WholeContract,
  options: ContractOptions,
): Promise<ContractReport> {
  const isNeither = text === undefined && document === undefined
  if ((isNeither && derivations.size === 0) || (text !== undefined && document !== undefined)) {
    throw new ValidationError(
      'send either text, the file, or document, the contract as an object; derivations alone need neither',
    )
  }
  if (text !== undefined && !text.isWellFormed()) {
    throw new ValidationError('text has a lone surrogate, which is no character; send valid Unicode')
  }
  for (const file of versions.keys()) {
    if (!derivations.has(file))
      throw new ValidationError(`versions names ${showValue(file)}, which is not in derivations`)
  }
  const files = new Map(
    Array.from(derivations, ([file, one]) => [
      file,
      { bytes: one === null ? null : bytesOfText(one), version: versions.get(file) ?? null },
    ]),
  )
  return writeContract(
    sheet,
    (present) => ({
      ...fields,
      derivations: files,
      text:
        text ??
        (document === undefined
          ? present.text
          : writeDocument(present, document as JsonValue, fields.renamed)),
    }),
    { ...options, repairs: text !== undefined },
  )
}
