import reactHooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
    globalIgnores(["public", "src/api/schema.d.ts"]),
    tseslint.configs.strictTypeChecked,
    // Those of the React compiler, which the console does not use, take longer than all others.
    {
        plugins: { "react-hooks": reactHooks },
        rules: {
            "react-hooks/rules-of-hooks": "error",
            "react-hooks/exhaustive-deps": "error",
        },
    },
    {
        languageOptions: {
            parserOptions: { projectService: { allowDefaultProject: ["eslint.config.js"] } },
        },
        linterOptions: { reportUnusedDisableDirectives: "error" },
        rules: {
            "no-restricted-syntax": [
                "error",
                {
                    selector: "TSAsExpression > TSNeverKeyword",
                    message: "`as never` fits everything, as `any` does.",
                },
            ],
            // `onPress={() => setOpen(true)}` is how handlers are written.
            "@typescript-eslint/no-confusing-void-expression": [
                "error",
                { ignoreArrowShorthand: true },
            ],
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
        },
    },
);
