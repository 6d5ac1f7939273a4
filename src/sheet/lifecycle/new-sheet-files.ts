import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const GITIGNORE = `# The store; colophon creates it from records.jsonl when it does not exist.
sheet.db*
`

/** Writes the `.gitignore` of a new sheet. */
export async function writeGitignore(directory: string): Promise<void> {
  await writeFile(join(directory, '.gitignore'), GITIGNORE, { flag: 'wx' })
}

/** Writes the files of a sheet without records, made to be edited. */
export async function writeStarter(directory: string, names: SheetNames): Promise<void> {
  await writeFile(join(directory, 'contract.yaml'), starterContract(names), { flag: 'wx' })
  await mkdir(join(directory, 'derivations'))
  await writeFile(join(directory, 'derivations', EXAMPLE_FILE), EXAMPLE, { flag: 'wx' })
}

/** The names in a new sheet's contract. */
export interface SheetNames {
  /** The contract's id: the directory's name. */
  readonly id: string
  /** The name of its schema entry. */
  readonly entry: string
}

/** Does not end in .yaml, so that it has no effect until it is renamed. */
const EXAMPLE_FILE = 'country-name.yaml.example'

function starterContract({ id, entry }: SheetNames): string {
  return `# The contract of this sheet: which fields a record has, and what their values must be.
# It is a document of the Open Data Contract Standard (ODCS). An edit counts from the next request on.
apiVersion: v3.1.0
kind: DataContract
id: ${JSON.stringify(id)}
version: 1.0.0
status: draft
schema:
  - name: ${JSON.stringify(entry)}
    properties:
      # Every record has an id: a text of your choice that no other record has.
      - name: id
        logicalType: string
        primaryKey: true
        required: true
      # A field that each record must have. Types: string, integer, number, boolean, date, timestamp, time, array, object.
      - name: title
        logicalType: string
        required: true
      # A field that may be empty, with one constraint.
      - name: country
        description: Two letters, as in ISO 3166.
        logicalType: string
        logicalTypeOptions:
          pattern: '^[A-Z]{2}$'
      # A field that a derivation can fill in: see derivations/${EXAMPLE_FILE}.
      - name: country_name
        logicalType: string
`
}

const EXAMPLE = `# An example of a derivation. To use it, enter the URL of an API, and rename the file so that it ends in .yaml.
# For each record, {{ country }} is replaced by its value, the URL is called, and the value at name.common in the
# response becomes the value of country_name.
targets: [country_name]
inputs: [country]
kind: http
url: https://api.example.com/countries/{{ country }}
response_path: name.common
`
