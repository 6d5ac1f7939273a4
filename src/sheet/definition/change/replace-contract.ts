import { writeDocument } from '../../../contract/edit/write-document.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { ValidationError } from '../../../errors/service-error.ts'
import type { Sheet } from '../../sheet.ts'
import { bytesOfText } from './derivation-file.ts'
import {
  writeContract,
  type ContractOptions,
  type ContractReport,
  type NewContract,
} from './change-fields.ts'

/** A whole contract, as the text of the file or as a document. */
export interface WholeContract extends Omit<NewContract, 'text' | 'derivations'> {
  readonly text: string | undefined
  readonly document: unknown
  /** The texts of derivation files that change with it, by their names; null removes a file. */
  readonly derivations?: ReadonlyMap<string, string | null>
}

/**
 * Replaces the contract, by another text or by a document; see {@link writeContract}, also for its errors. A text also replaces a contract
 * that is not valid. Throws ValidationError without
 * one of the two, with both, and for a text with lone surrogates.
 */
export async function replaceContract(
  sheet: Sheet,
  { text, document, derivations = new Map(), ...fields }: WholeContract,
  options: ContractOptions,
): Promise<ContractReport> {
  if ((text === undefined) === (document === undefined)) {
    throw new ValidationError('send either text, the file, or document, the contract as an object')
  }
  if (text !== undefined && !text.isWellFormed()) {
    throw new ValidationError('text has a lone surrogate, which is no character; send valid Unicode')
  }
  const bytesOf = new Map(
    Array.from(derivations, ([file, one]) => [file, one === null ? null : bytesOfText(one)] as const),
  )
  return writeContract(
    sheet,
    (present) => ({
      ...fields,
      derivations: bytesOf,
      text: text ?? writeDocument(present, document as JsonValue, fields.renamed),
    }),
    { ...options, repairs: text !== undefined },
  )
}
