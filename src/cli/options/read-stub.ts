import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { OperationError } from '../../errors/service-error.ts'
import { parseStub } from '../../sheet/transports.ts'

/** Reads the file of `--stub` (D41). Throws OperationError and ValidationError. */
export function readStub(path: string): ReturnType<typeof parseStub> {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OperationError(`the stub file ${basename(path)} cannot be read (${code ?? 'unknown fault'})`)
  }
  return parseStub(text)
}
