import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

interface Modules {
  getModuleInfo(id: string): { isEntry: boolean; importers: string[] } | null;
}

const onFirstLoad = new Map<string, boolean>();

/** Tell whether the first page needs a module, so that all it needs comes as one file. */
function isOnFirstLoad(id: string, modules: Modules): boolean {
  const known = onFirstLoad.get(id);
  if (known !== undefined) return known;
  // Until it is decided; modules may import each other.
  onFirstLoad.set(id, false);
  const found = modules.getModuleInfo(id);
  const isNeeded =
    found !== null &&
    (found.isEntry || found.importers.some((importer) => isOnFirstLoad(importer, modules)));
  onFirstLoad.set(id, isNeeded);
  return isNeeded;
}

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../src/recollect/server/console_files",
    emptyOutDir: true,
    target: "es2022",
    // Inlined files would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    // Compressed it is a third of this; tools/console_bench.py holds the limit that counts.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              debugName: "first",
              name: (id, modules) => (isOnFirstLoad(id, modules) ? "first" : null),
            },
          ],
        },
      },
    },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:7077", "/health": "http://127.0.0.1:7077" } },
});
