import { editYaml } from '../contract/yaml/edit/edit-yaml.ts'
import { editText, type YamlEdit, type YamlPath } from '../contract/yaml/edit/yaml-edit.ts'
import type { Contract } from '../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../contract/json/json.ts'
import { parseYamlFile } from '../contract/yaml/yaml-file.ts'
import { COMMON_KEYS } from './definition/common-keys.ts'
import { renameInNames } from './definition/rename-edits.ts'
import { renameInTemplate } from './definition/template.ts'
import type { DerivationKind } from './definition/derivation-kind.ts'
import type { Kinds } from './kinds.ts'

/** A derivation file whose fields are renamed. */
export interface FileToRename {
  /** The name in messages, such as `derivations/currency.yaml`. */
  readonly file: string
  /** Valid with the name before. */
  readonly text: string
}

/** A derivation file after a rename. */
export interface RenamedFile {
  readonly text: string
  /** The paths of other files of the sheet that are its templates; see {@link renameInTemplateFile}. */
  readonly templates: readonly string[]
}

/** A field with another name, and the contract before. */
export interface RenamedField {
  readonly from: string
  readonly to: string
  readonly contract: Contract
}

/**
 * Returns the text of a derivation file with another name of a field, where its keys name the field, in placeholders, formulas and queries. Texts
 * and comments that only contain the name stay. Throws ContractError for a file that is not valid or a formula or query that cannot be edited, and
 * OperationError for a place that can only be edited by hand.
 */
export function renameInDerivation(
  { file, text }: FileToRename,
  rename: RenamedField,
  kinds: Kinds,
): RenamedFile {
  const yaml = parseYamlFile(text, file)
  const templates = new Set<string>()
  if (!isJsonObject(yaml.value)) return { text, templates: [] }
  const editsOf = (keys: JsonObject, at: YamlPath, around: readonly string[]): readonly YamlEdit[] => {
    const kind = kindOf(keys, kinds)
    const listed = Object.hasOwn(keys, 'inputs') ? namesIn(keys['inputs']) : around
    const own = Object.fromEntries(Object.entries(keys).filter(([key]) => !COMMON_KEYS.includes(key)))
    const edits = [
      ...renameInNames(keys, 'targets', rename),
      ...renameInNames(keys, 'inputs', rename),
      ...(kind?.renameField?.(own, {
        ...rename,
        listed,
        templateFile: (path) => templates.add(path),
        step: (path, step) => editsOf(step, [...at, ...path], listed).map((edit) => within(path, edit)),
        fail: (path, message) => yaml.fail([...at, ...path], message),
      }) ?? []),
    ]
    return edits
  }
  const edited = editYaml(text, file, editsOf(yaml.value, [], []))
  return { text: edited, templates: [...templates] }
}

/** Returns the text of a file whose whole text is a template with another name of a field. */
export function renameInTemplateFile(text: string, { from, to }: RenamedField): string {
  return editText(text, renameInTemplate(text, from, to))
}

function namesIn(list: JsonValue | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : []
}

function within(path: YamlPath, edit: YamlEdit): YamlEdit {
  return { ...edit, path: [...path, ...edit.path] }
}

function kindOf(keys: JsonObject, kinds: Kinds): DerivationKind | undefined {
  const { kind } = keys
  return typeof kind === 'string' ? kinds.get(kind) : undefined
}
