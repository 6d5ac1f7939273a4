import {
  createPrivateKey,
  createPublicKey,
  hash,
  randomBytes,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import { erasedLeaf } from './erased.ts'
import type { Sha256 } from './merkle.ts'
import { formatSecret, isKeyName, KEY_BYTES, noteKey, parseSecret, type NoteKey } from './note-keys.ts'
import { formatNote, type VerifySignature } from './checkpoint.ts'
import { isEqual } from './merkle.ts'
import { utf8 } from './bytes.ts'

/** DER of an Ed25519 key before its 32 bytes (RFC 8410). */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex')

export const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')

export const verifySignature: VerifySignature = (message, signature, key) => {
  if (key.length !== KEY_BYTES) return false
  const publicKey = createPublicKey({ key: Buffer.concat([PUBLIC_DER, key]), format: 'der', type: 'spki' })
  return verify(null, message, publicKey, signature)
}

/**
 * Returns the leaf of a line in the tree of the log: for a line from which values were erased that of before, for any other the same as
 * `leafHash`, in half of the time: the text is hashed as it is, and not copied before.
 */
export function leafOfLine(text: string): Uint8Array {
  return erasedLeaf(text) ?? hash('sha256', `\0${text}`, 'buffer')
}

/** A private key that signs checkpoints. */
export class NoteSigner {
  readonly key: NoteKey
  readonly #private: KeyObject

  private constructor(name: string, privateKey: KeyObject) {
    this.#private = privateKey
    const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
    this.key = noteKey(sha256, name, der.subarray(-KEY_BYTES))
  }

  /** Reads the text of a private key; null for anything else. */
  static read(text: string): NoteSigner | null {
    const secret = parseSecret(text)
    if (secret === null) return null
    const signer = new NoteSigner(secret.name, privateKeyOf(secret.seed))
    return isEqual(signer.key.id, secret.id) ? signer : null
  }

  /** Makes a new key, and returns the text of the private one. Throws RangeError for a name that is none. */
  static create(name: string): { readonly signer: NoteSigner; readonly secret: string } {
    if (!isKeyName(name)) throw new RangeError(`not the name of a key: ${JSON.stringify(name)}`)
    const seed = randomBytes(KEY_BYTES)
    const signer = new NoteSigner(name, privateKeyOf(seed))
    return { signer, secret: formatSecret(signer.key, seed) }
  }

  /** Returns the note of a body with the signature of the key. */
  sign(body: string): string {
    const { name, id } = this.key
    return formatNote(body, [{ name, id, signature: sign(null, utf8(body), this.#private) }])
  }
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' })
}
