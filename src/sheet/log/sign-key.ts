import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { showValue } from '../../contract/json/show-value.ts'
import { formatKey, isKeyName } from '../../proof/note-keys.ts'
import { NoteSigner } from '../../proof/node-primitives.ts'
import { SheetError, ValidationError } from '../../errors/service-error.ts'

/** Permissions of a file that only its owner may read and write. */
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/** More bytes than the text of a key has. */
const MAX_KEY_BYTES = 4096

/**
 * Reads the private key that signs checkpoints of a sheet, which is in a directory or, for null, elsewhere. Throws ValidationError for a file that has no key, that
 * is part of the sheet, which copies and archives may have, or that others can read.
 */
export function readSignKey(path: string, directory: string | null): NoteSigner {
  const file = statOf(path)
  if (file.size > MAX_KEY_BYTES) throw refused(path, 'has no private key')
  if (process.platform !== 'win32' && (file.mode & OTHERS) !== 0) {
    throw refused(path, 'can be read by others; run `chmod 600` on it')
  }
  if (directory !== null && isWithin(realpathSync(directory), realpathSync(path))) {
    throw refused(path, 'is in the directory of the sheet, where others may get it; move it elsewhere')
  }
  const signer = NoteSigner.read(readFileSync(path, 'utf8'))
  if (signer === null) {
    throw refused(
      path,
      'has no private key, which begins with "PRIVATE+KEY+"; make one with `colophon sign-key`',
    )
  }
  return signer
}

/**
 * Makes a private key in a new file that only its owner may read, and returns the line of the public key, by which others verify.
 * Throws ValidationError for a name that a key cannot have, SheetError where the file exists or cannot be made.
 */
export function createSignKey(path: string, name: string): string {
  if (!isKeyName(name)) {
    throw new ValidationError(
      `a key cannot be named ${showValue(name)}: a name has 1 to 200 characters, without spaces and plus signs`,
      'invalid_sign_key',
    )
  }
  const { signer, secret } = NoteSigner.create(name)
  try {
    writeFileSync(path, `${secret}\n`, { flag: 'wx', mode: OWNER_ONLY })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new SheetError(`${path} exists already; a key is never replaced`, 'path_exists')
    throw new SheetError(`${path} cannot be made: ${message}`, 'path_not_writable')
  }
  return formatKey(signer.key)
}

function statOf(path: string): { readonly size: number; readonly mode: number } {
  try {
    return statSync(path)
  } catch (error) {
    throw new SheetError(`${path} cannot be opened: ${(error as Error).message}`, 'unknown_file')
  }
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(resolve(directory), resolve(path))
  return way !== '' && !way.startsWith('..')
}

function refused(path: string, fault: string): ValidationError {
  return new ValidationError(`the key file ${path} ${fault}`, 'invalid_sign_key')
}
