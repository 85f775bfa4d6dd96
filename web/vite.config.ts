import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../src/recollect/server/console_files",
    emptyOutDir: true,
    target: "es2022",
    // Inlined files would need `data:` in the content security policy.
    assetsInlineLimit: 0,
  },
  server: { proxy: { "/v1": "http://127.0.0.1:7077", "/health": "http://127.0.0.1:7077" } },
});
