import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { parseNote } from '../../../src/proof/checkpoint.ts'
import {
  checkProof,
  compareCheckpoints,
  parseProof,
  type CheckedProof,
  type Primitives,
} from '../../../src/proof/entry-proof.ts'
import { parseKey } from '../../../src/proof/note-keys.ts'
import '../ui/tokens.css'
import './verify.css'
import { element, facts } from './elements.ts'

const PRIMITIVES: Primitives = {
  sha256,
  verify: (message, signature, key) => {
    try {
      return ed25519.verify(signature, message, key)
    } catch {
      // A signature or a key of another length.
      return false
    }
  },
}

function byId(id: string): HTMLElement {
  return document.querySelector(`#${id}`) as HTMLElement
}

const drop = byId('drop')
const file = byId('file') as HTMLInputElement
const key = byId('key') as HTMLTextAreaElement
const kept = byId('kept') as HTMLTextAreaElement
const result = byId('result')

/** The file that was chosen last. */
let chosen: { readonly name: string; readonly text: string } | null = null

async function choose(files: FileList | null): Promise<void> {
  const [first] = files ?? []
  if (first === undefined) return
  chosen = { name: first.name, text: await first.text() }
  show()
}

function show(): void {
  if (chosen !== null) result.replaceChildren(...shown(chosen))
}

function shown({ name, text }: { readonly name: string; readonly text: string }): HTMLElement[] {
  const read = parseProof(text)
  if (read === null)
    return [verdict(false, `${name} is not a proof`, ['Choose the file that `colophon proof` wrote.'])]
  const keyText = key.value.trim()
  const publicKey = keyText === '' ? null : parseKey(PRIMITIVES.sha256, keyText)
  if (keyText !== '' && publicKey === null) {
    return [
      verdict(false, 'The public key is not one', [
        'A key is one line, name+id+key, as `colophon sign-key` prints it.',
      ]),
    ]
  }
  const checked = checkProof(PRIMITIVES, read, publicKey)
  const keptFault = compareKept(checked)
  const faults = keptFault.isFault ? [...checked.faults, keptFault.text] : checked.faults
  const holds = faults.length === 0
  return [
    verdict(holds, holds ? 'The proof holds' : 'The proof does not hold', faults),
    ...(holds ? [facts(factsOf(checked, keptFault.text)), limits(checked)] : []),
  ]
}

/** Says how the checkpoint of the proof fits to the one that the reader has kept. */
function compareKept({ checkpoint }: CheckedProof): { readonly isFault: boolean; readonly text: string } {
  const text = kept.value.trim()
  if (text === '') return { isFault: false, text: '' }
  const note = parseNote(`${text}\n`)
  if (note === null)
    return { isFault: true, text: 'The checkpoint that you kept is not one: paste all of its lines.' }
  switch (compareCheckpoints(checkpoint, note)) {
    case 'same':
      return { isFault: false, text: 'the one that you kept' }
    case 'other-size':
      return {
        isFault: false,
        text: `yours is of ${note.size} entries, and whether both are of one history is shown by \`colophon verify --checkpoint\` with the sheet or an archive`,
      }
    case 'other-log':
      return { isFault: true, text: `The checkpoint that you kept is of another log, ${note.origin}.` }
    case 'contradicts':
      return {
        isFault: true,
        text: 'The checkpoint that you kept has as many entries and another hash: one of the two histories was rewritten.',
      }
  }
}

const ERASED =
  'values were erased from this line: it is proved that the log had a line here, and not what is left of it'

function factsOf(
  { proof, checkpoint, value, signature, isErased }: CheckedProof,
  keptText: string,
): (readonly [string, string])[] {
  const line = JSON.parse(proof.line) as Readonly<Record<string, unknown>>
  const of = (name: string): string => (typeof line[name] === 'string' ? line[name] : '')
  const { cell } = proof
  const by = [of('actor'), of('source') === '' ? '' : `(${of('source')})`]
    .filter((part) => part !== '')
    .join(' ')
  const names = checkpoint.signatures.map(({ name }) => name).join(', ')
  const signed = {
    signed: `signed by ${names}`,
    unchecked: names === '' ? 'not signed' : `signed in the name of ${names}, not checked without a key`,
    none: '',
    invalid: '',
  }[signature]
  const all: (readonly [string, string])[] = [
    ['Cell', cell === null ? '' : `${cell.record_id} · ${cell.field}`],
    ['Value', cell === null ? '' : JSON.stringify(cell.value)],
    [
      'Where it is',
      value === 'in an imported file'
        ? `in the file ${of('file')} with the SHA-256 ${of('sha256')}`
        : value === 'by a conversion'
          ? 'an earlier entry has it as another type'
          : '',
    ],
    ['Erased', isErased ? ERASED : ''],
    ['Written by', isErased ? '' : by],
    ['At', isErased ? '' : of('at')],
    ['Entry', `${proof.seq}, line ${proof.index + 1} of ${checkpoint.size}`],
    ['Line', proof.line],
    [
      'Checkpoint',
      [`${checkpoint.origin}, ${checkpoint.size} entries`, signed, keptText]
        .filter((part) => part !== '')
        .join('; '),
    ],
  ]
  return all.filter(([, text]) => text !== '')
}

function verdict(holds: boolean, title: string, faults: readonly string[]): HTMLElement {
  const list = element('ul', {}, ...faults.map((fault) => element('li', {}, fault)))
  const parts = [element('h2', {}, title), ...(faults.length === 0 ? [] : [list])]
  return element('div', { className: holds ? 'verdict holds' : 'verdict fails' }, ...parts)
}

function limits({ proof, value }: CheckedProof): HTMLElement {
  const texts = [
    value === 'in an imported file'
      ? 'The log has the hash of the imported file: compare it with the file to see the value.'
      : '',
    value === 'by a conversion'
      ? 'The line says that the field got another type, and does not have the value.'
      : '',
    proof.cell === null ? '' : 'It does not show that no later entry changed the cell.',
    'A checkpoint that only the owner of the sheet has can be made again: compare it with one that somebody else kept.',
  ]
  return element('p', { className: 'limits' }, texts.filter((text) => text !== '').join(' '))
}

file.addEventListener('change', () => void choose(file.files))
for (const input of [key, kept]) input.addEventListener('input', show)
for (const type of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(type, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', type === 'dragover')
    if (event instanceof DragEvent && type === 'drop') void choose(event.dataTransfer?.files ?? null)
  })
}
