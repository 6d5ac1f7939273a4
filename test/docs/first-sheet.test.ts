import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { API_PORT, startApi } from '../../examples/countries/api/server.mjs'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { commandFolder, guideSteps, runStep, savedAs } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const page = readPage('docs/guides/first-sheet.md')
const blocks = codeBlocks(page)

/** Makes the guide's files in a directory of their own, with the API where it is. */
async function makeSheet(t: TestContext, apiPort: number): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'colophon-guide-'))
  onEnd(t, () => rm(root, { recursive: true, force: true }))
  const files = blocks.flatMap((block) => {
    const name = savedAs(block)
    return name === undefined ? [] : [[name, block.text] as const]
  })
  assert.deepEqual(
    files.map(([name]) => name),
    ['contract.yaml', 'records.jsonl', 'derivations/country-name.yaml'].map((name) => `my-sheet/${name}`),
  )
  for (const [name, text] of files) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text.replaceAll(`127.0.0.1:${API_PORT}`, `127.0.0.1:${apiPort}`))
  }
  return root
}

/** Applies the edits of the section "Change the derivation". */
async function changeDerivation(root: string): Promise<void> {
  const [, name = '', url = '', path = ''] =
    /Edit `([^`]+)`: change the URL to `([^`]+)` and the path to `([^`]+)`/.exec(page) ?? []
  const file = join(root, name)
  const before = await readFile(file, 'utf8')
  const after = before.replace(/languages=\w+/, url).replace(/names\.\w+/, path)
  assert.ok(after !== before && after.includes(url) && after.includes(path))
  await writeFile(file, after)
}

test(
  'the guide to the first sheet has the output of its commands, step by step',
  { skip: noTerminal },
  async (t) => {
    const api = await startApi({ port: 0 })
    onEnd(t, () => api.close())
    const root = await makeSheet(t, api.port)
    const bin = await commandFolder(root)
    // The API, the folders and the command are there.
    const steps = guideSteps(blocks).filter(({ commands }) => /^(colophon|echo) /.test(commands))
    assert.deepEqual(
      steps.map(({ shown }) => shown !== null),
      Array.from({ length: 6 }, () => true),
    )
    const env = { COLOPHON_ACTOR: 'human:me' }
    for (const [index, step] of steps.entries()) {
      if (index === steps.length - 1) await changeDerivation(root)
      await runStep(t, step, { root, bin, columns: 160, env })
    }
  },
)
