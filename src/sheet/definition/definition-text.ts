import { ContractError, fileError } from '../../errors/service-error.ts'

/** The text of a definition file. */
export interface DefinitionText {
  /** Without a byte order mark. */
  readonly text: string
  /** Returns the bytes of another text of the file, with a byte order mark if the file has one. */
  encode(text: string): Uint8Array
}

const BYTE_ORDER_MARK = '\uFEFF'

/** Decodes a definition file; `file` is its name in messages. Throws ContractError for bytes that are not UTF-8. */
export function definitionText(bytes: Uint8Array, file: string): DefinitionText {
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const mark = whole.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    return { text: whole.slice(mark.length), encode: (text) => Buffer.from(mark + text) }
  } catch {
    const message = 'the file is not UTF-8 text; save it as UTF-8'
    throw new ContractError(...fileError({ file, line: 1, message }, 'invalid_definition'))
  }
}
