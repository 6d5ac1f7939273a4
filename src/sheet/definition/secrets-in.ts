const SECRET = /\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/** Returns the environment variables that placeholders of a text name, in their order, each as often as it is named. */
export function secretsIn(text: string): readonly string[] {
  return [...text.matchAll(SECRET)].flatMap(([, name]) => name ?? [])
}
