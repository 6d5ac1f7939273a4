import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { scratch } from '../support/init-files.ts'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { savedAs } from '../support/terminal-guide.ts'
import { commandsOf, comparable, curlMissing } from '../support/shell-commands.ts'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'colophon.js')

/** Without spaces at the ends of lines, which nobody sees. */
function seen(text: string): string {
  return text.replace(/ +$/gm, '').trim()
}

test(
  'the guide to a sheet from a file has the output of its commands, step by step',
  { skip: curlMissing },
  async (t) => {
    const root = await scratch(t)
    const blocks = codeBlocks(readPage('docs/guides/from-a-file.md'))
    let shown = 0
    for (const [index, block] of blocks.entries()) {
      const { lang, text } = block
      const file = savedAs(block)
      if (file !== undefined) await writeFile(join(root, file), text)
      if (lang !== 'sh') continue
      const script = `set -e; colophon() { '${process.execPath}' '${BIN}' "$@"; }; ${commandsOf(text).join('; ')}`
      const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], { cwd: root })
      assert.match(stderr, /^(?:Guessed: .*\n)*$/, text)
      const next = blocks[index + 1]
      if (next === undefined || next.lang === 'sh') continue
      shown += 1
      if (next.lang === 'json') assert.deepEqual(comparable(stdout), comparable(next.text), text)
      else assert.equal(seen(stdout), seen(next.text), text)
    }
    assert.equal(shown, 8)
  },
)
