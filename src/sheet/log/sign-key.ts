import { isKeyName, formatKey } from '../../proof/note-keys.ts'
import { NoteSigner } from '../../proof/node-primitives.ts'
import { ValidationError } from '../../errors/service-error.ts'

/** A new key: the text of its file, and the line that others verify with. */
export interface NewSignKey {
  readonly secret: string
  readonly publicKey: string
}

/** Returns the signer of a private key; null for null. Throws ValidationError for a text that is no key. */
export function signerOf(text: string | null): NoteSigner | null {
  if (text === null) return null
  const signer = NoteSigner.read(text)
  if (signer !== null) return signer
  throw new ValidationError(
    'the file of --sign-key has no private key for signed notes, which begins with "PRIVATE+KEY+"; make one with `colophon sign-key`',
    'invalid_sign_key',
  )
}

/** Makes a key for signing checkpoints. Throws ValidationError for a name that a key cannot have. */
export function createSignKey(name: string): NewSignKey {
  if (!isKeyName(name)) {
    throw new ValidationError(
      `a key cannot be named ${JSON.stringify(name)}: a name has 1 to 200 characters, without spaces and plus signs`,
    )
  }
  const { signer, secret } = NoteSigner.create(name)
  return { secret: `${secret}\n`, publicKey: formatKey(signer.key) }
}
