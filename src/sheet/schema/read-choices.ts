import { isJsonObject } from '../../contract/json/json.ts'
import { parseYamlFile } from '../../contract/yaml/yaml-file.ts'
import { MODELS_FILE } from '../../derivation/definition/source-path.ts'
import { secretsIn } from '../definition/secrets-in.ts'
import { validOrNull } from '../definition/valid-or-null.ts'
import type { Sheet } from '../sheet.ts'

/** The names that a derivation of the sheet can use. */
export interface DerivationChoices {
  /** The models of `models.yaml`; none for a file that is not valid. */
  readonly models: readonly string[]
  /** The environment variables that the definition names in headers, and whether this process has them. */
  readonly secrets: readonly { readonly name: string; readonly isSet: boolean }[]
  /** Whether this process runs scripts. */
  readonly scripts: boolean
}

/** Reads which models and secrets derivations can name, and whether they can be scripts. Variables that no file names are not listed. Throws ContractError. */
export async function readChoices(sheet: Sheet): Promise<DerivationChoices> {
  const { files } = await sheet.definition()
  const texts = [...files.texts([MODELS_FILE])].map(
    ([path, bytes]) => [path, Buffer.from(bytes).toString()] as const,
  )
  const found = texts.flatMap(([, text]) => secretsIn(text))
  return {
    models: texts.flatMap(([path, text]) => (path === MODELS_FILE ? modelsOf(text) : [])),
    secrets: [...new Set(found)].toSorted().map((name) => ({ name, isSet: sheet.hasVariable(name) })),
    scripts: sheet.confinement !== 'refused',
  }
}

function modelsOf(text: string): readonly string[] {
  const value = validOrNull(() => parseYamlFile(text, MODELS_FILE).value)
  const models = isJsonObject(value) ? value['models'] : null
  return isJsonObject(models) ? Object.keys(models) : []
}
