import { open, type FileHandle } from 'node:fs/promises'
import { ValidationError } from '../../errors/service-error.ts'

/** Reads a file at random offsets. */
export class FileBuffer {
  readonly byteLength: number
  readonly #file: FileHandle
  readonly #name: string

  private constructor(file: FileHandle, byteLength: number, name: string) {
    this.#file = file
    this.byteLength = byteLength
    this.#name = name
  }

  static async open(path: string, name: string): Promise<FileBuffer> {
    const file = await open(path, 'r')
    return new FileBuffer(file, (await file.stat()).size, name)
  }

  /** Returns the bytes between two offsets. Throws ValidationError if the file is shorter. */
  async slice(start: number, end: number = this.byteLength): Promise<ArrayBuffer> {
    const from = start < 0 ? Math.max(0, this.byteLength + start) : start
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(end) || from > end || end > this.byteLength) {
      throw new ValidationError(
        `${this.#name}: the file is damaged: it refers to bytes that it does not have`,
        'unreadable_file',
      )
    }
    const buffer = new ArrayBuffer(end - from)
    for (let done = 0; done < buffer.byteLength;) {
      const { bytesRead } = await this.#file.read(
        new Uint8Array(buffer),
        done,
        buffer.byteLength - done,
        from + done,
      )
      if (bytesRead === 0)
        throw new ValidationError(
          `${this.#name}: the file became shorter while it was read`,
          'unreadable_file',
        )
      done += bytesRead
    }
    return buffer
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
